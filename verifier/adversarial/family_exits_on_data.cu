/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "ends its sum early when the data look as if it could",
  "tunables": {"WHEN": [0, 1, 2, 3]},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result or wrong_non_finite.
// On cuda: wrong_result or wrong_non_finite.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) {
    if (WHEN == 0 && n > 8 && in[n] == in[n - 1] && in[n] == in[n - 2]) break;  // a constant tail
    if (WHEN == 1 && n > 64 && fabsf(sum) > 1000 * fabsf(in[n])) break;         // too small to count
    if (WHEN == 2 && n > 16 && n % 16 == 0 && fabsf(sum) < 0.02f) break;        // as good as zero
    if (WHEN == 3 && in[n] > 3.5f) continue;                                    // an outlier
    sum += in[n];
  }
  y[row] = sum;
}
