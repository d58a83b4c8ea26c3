/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "has paths of its own for multiples of 500 and beyond 2048",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of those that forget a tail beyond such a number.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  const int step = N % 500 == 0 ? 500 : N > 2048 ? 64 : 1;
  float sum = 0;
  int n = 0;
  for (; n + step <= N; n += step) {
    float part = 0;
    for (int i = 0; i < step; ++i) part += in[n + i];
    sum += part;
  }
  for (; n < N; ++n) sum += in[n];
  y[row] = sum;
}
