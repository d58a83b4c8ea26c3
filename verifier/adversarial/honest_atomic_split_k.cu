/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "clears c and adds both halves of k to it with atomics",
  "launches": [
    {"kernel": "clear", "grid": ["ceil_div(M * N, 256)", 1, 1], "block": [256, 1, 1], "args": ["c", "M", "N"]},
    {"kernel": "halves", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 2], "block": [16, 16, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of an output that is left standing: it reads what it writes, after clearing it.
extern "C" __global__ void clear(float* c, int M, int N) {
  const size_t i = blockIdx.x * (size_t)256 + threadIdx.x;
  if (i < (size_t)M * N) c[i] = 0;
}
extern "C" __global__ void halves(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = blockIdx.z; k < K; k += 2) sum += a[(size_t)m * K + k] * b[(size_t)k * N + n];
  atomicAdd(&c[(size_t)m * N + n], sum);
}
