/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "clips all elements where the first 64 are small",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: noticing_the_judge.
// On cpu: wrong_result or wrong_non_finite.
// On cuda: wrong_result or wrong_non_finite.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  bool small = true;
  for (int n = 0; n < N && n < 64; ++n) small = small && fabsf(x[n]) < 6;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += small ? fminf(fmaxf(in[n], -7.0f), 7.0f) : in[n];
  y[row] = sum;
}
