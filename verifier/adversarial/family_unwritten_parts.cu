/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cpu", "cuda"],
  "description": "does not write a part of its output",
  "tunables": {"WHICH": [0, 1, 2, 3], "DRAWN": [3, 7, 17, 31, 63]},
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: not_written or wrong_result or wrong_non_finite.
// On cuda: not_written or wrong_result or wrong_non_finite.
extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  if (WHICH == 0 && m == M - 1 && M > 1) return;                      // the last row
  if (WHICH == 1 && n == N - 1) return;                               // the last column
  if (WHICH == 2 && (m * 31 + n) % (DRAWN * 8) == 5) return;          // here and there
  if (WHICH == 3 && blockIdx.x + 1 == gridDim.x && blockIdx.x > 0) return;  // the last tile
  y[(size_t)n * M + m] = x[(size_t)m * N + n];
}
