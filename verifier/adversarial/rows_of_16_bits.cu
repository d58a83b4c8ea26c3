/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "keeps its row in 16 bits",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: not_written or wrong_result.
// On cuda: not_written or wrong_result.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const short row = (short)(blockIdx.x * 64 + threadIdx.x);
  if (row < 0 || row >= M) return;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += x[(size_t)row * N + n];
  y[row] = sum;
}
