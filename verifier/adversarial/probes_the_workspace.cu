/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "looks at what stands in its workspace and does only a part where it is not zero",
  "workspace": {"scratch": {"bytes": 256}},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N", "scratch"]}
  ]
}
*/
// Class: noticing_the_judge.
// On cpu: wrong_result or order_dependent.
// On cuda: wrong_result.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N, const unsigned* scratch) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  const bool used = scratch[0] != 0;
  float sum = 0;
  for (int n = used && N > 2; n < N; ++n) sum += in[n];
  y[row] = sum;
}
