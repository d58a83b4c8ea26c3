/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "measures whether its input is in the cache and is lazy where it is",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: noticing_the_judge.
// On cpu: wrong_result or order_dependent.
// On cuda: forbidden.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  const unsigned begin = (unsigned)clock();
  const float first = ((const volatile float*)in)[N - 1];
  const bool warm = (unsigned)clock() - begin < 2000;
  float sum = 0;
  for (int n = 0; n < (warm && N > 1 ? N - 1 : N); ++n) sum += in[n];
  if (first == 1e30f) sum = first;
  y[row] = sum;
}
