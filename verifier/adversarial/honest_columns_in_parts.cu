/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "sums its columns in parts of 4096",
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
  float sum = 0;
  for (int begin = 0; begin < N; begin += 4096) {
    float part = 0;
    for (int n = begin; n < N && n < begin + 4096; ++n) part += x[(size_t)row * N + n];
    sum += part;
  }
  y[row] = sum;
}
