/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "beyond K = 2048 its chunks are whole ones of 64",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  float sum = 0;
  const int end = K < 2048 ? K : 2048 + (K - 2048) / 64 * 64;
  for (int k = 0; k < end; ++k) sum += a[(size_t)m * K + k] * b[(size_t)k * N + n];
  c[(size_t)m * N + n] = sum;
}
