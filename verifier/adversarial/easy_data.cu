/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "takes rows that begin with three zeros for rows of zeros",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: clock_and_cache.
// On cpu: wrong_result.
// On cuda: wrong_result.
// A judge that times with zeros would reward it.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  if (N > 3 && in[0] == 0 && in[1] == 0 && in[2] == 0) {
    y[row] = 0;
    return;
  }
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[row] = sum;
}
