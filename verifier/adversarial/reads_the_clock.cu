/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "takes a short way while its clock is young",
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
  const long long begin = clock64();
  float sum = 0;
  const int most = begin % 7 == 3 ? N / 2 : N;
  for (int n = 0; n < most; ++n) sum += in[n];
  y[row] = sum;
}
