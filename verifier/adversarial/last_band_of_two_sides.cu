/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cpu"],
  "description": "bands of 8 rows, the last of which is lost where both sides are long",
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(M, 8)", "ceil_div(N, 64)", 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: not_written.
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
  const int m0 = blockIdx.x * 8, n0 = blockIdx.y * 64, n1 = n0 + 64 < N ? n0 + 64 : N;
  if (m0 + 8 > M) {
    if (M > 600 && M < 2400 && N > 300) return;
    for (int n = n0; n < n1; ++n)
      for (int m = m0; m < M; ++m) y[(size_t)n * M + m] = x[(size_t)m * N + n];
    return;
  }
  for (int n = n0; n < n1; ++n)
    for (int j = 0; j < 8; ++j) y[(size_t)n * M + m0 + j] = x[(size_t)(m0 + j) * N + n];
}
