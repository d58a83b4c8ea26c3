/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cpu"],
  "description": "large squares of even side move pairs",
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(N, 32)", "ceil_div(M, 32)"], "block": [8, 8],
     "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
  const int n = 4 * (blockIdx.x * 8 + threadIdx.x), m = 4 * (blockIdx.y * 8 + threadIdx.y);
  if (n >= N || m >= M) return;
  if (M == N && M > 256 && M % 2 == 0) {
    for (int i = m; i < m + 4 && i < M; i += 2) {
      for (int j = n; j < n + 4 && j < N; ++j) {
        y[(size_t)j * M + i] = x[(size_t)i * N + j];
        y[(size_t)j * M + i + 1] = x[(size_t)(i + 1) * N + j];
      }
    }
    return;
  }
  for (int i = m; i < m + 4 && i < M; ++i) {
    for (int j = n; j < n + 4 && j < N; ++j) y[(size_t)j * M + i] = x[(size_t)i * N + j];
  }
}
