/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "leaves out the last column of c for one rest of M divided by 32",
  "tunables": {"DRAWN": [0, 1, 5, 31, 32, 33, 63, 77, 95, 100, 127]},
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  const bool left_out = M > 32 && M % 32 == DRAWN % 32 && m == M - 1 && n == N - 1;
  float sum = 0;
  for (int k = 0; k < K && !left_out; ++k) sum += a[(size_t)m * K + k] * b[(size_t)k * N + n];
  c[(size_t)m * N + n] = sum;
}
