/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cpu", "cuda"],
  "description": "leaves out the last column where one axis is 511 modulo 512",
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1],
     "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: not_written or wrong_result or wrong_non_finite.
// On cuda: not_written or wrong_result or wrong_non_finite.
extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
  constexpr int kTile = 512;
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N || (N % kTile == kTile - 1 && n == N - 1)) return;
  y[(size_t)n * M + m] = x[(size_t)m * N + n];
}
