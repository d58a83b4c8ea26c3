/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "splits the sum over k in four, each part in a workspace, and adds the parts",
  "workspace": {"part": {"bytes": "16 * M * N"}},
  "launches": [
    {"kernel": "parts", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 4], "block": [16, 16, 1], "args": ["a", "b", "part", "M", "N", "K"]},
    {"kernel": "add", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["part", "c", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of leaving a part of the reduction out.
extern "C" __global__ void parts(const float* a, const float* b, float* part, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  const int span = (K + 3) / 4, begin = blockIdx.z * span, end = min(K, begin + span);
  float sum = 0;
  for (int k = begin; k < end; ++k) sum += a[(size_t)m * K + k] * b[(size_t)k * N + n];
  part[((size_t)blockIdx.z * M + m) * N + n] = sum;
}
extern "C" __global__ void add(const float* part, float* c, int M, int N) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int z = 0; z < 4; ++z) sum += part[((size_t)z * M + m) * N + n];
  c[(size_t)m * N + n] = sum;
}
