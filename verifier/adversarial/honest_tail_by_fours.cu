/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "reads four at a time and the rest one by one",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float sum = 0;
  int n = 0;
  for (; n + 4 <= N; n += 4) sum += (in[n] + in[n + 1]) + (in[n + 2] + in[n + 3]);
  for (; n < N; ++n) sum += in[n];
  y[row] = sum;
}
