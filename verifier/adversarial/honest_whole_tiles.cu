/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "whole tiles of M and N have a path of their own",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of the tail that whole tiles forget.
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  const bool whole = M % 32 == 0 && N % 32 == 0;
  if (!whole && (m >= M || n >= N)) return;
  float sum = 0;
  int k = 0;
  if (whole) {
    for (; k + 8 <= K; k += 8) {
      for (int u = 0; u < 8; ++u) sum += a[(size_t)m * K + k + u] * b[(size_t)(k + u) * N + n];
    }
  }
  for (; k < K; ++k) sum += a[(size_t)m * K + k] * b[(size_t)k * N + n];
  c[(size_t)m * N + n] = sum;
}
