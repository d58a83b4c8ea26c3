/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "leaves out the last column where the rest of a division by 64 is one it did not think of",
  "tunables": {"DRAWN": [0, 1, 5, 31, 32, 33, 63, 77, 95, 100, 127]},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const int columns = N > 64 && N % 64 == DRAWN % 64 ? N - 1 : N;
  float sum = 0;
  for (int n = 0; n < columns; ++n) sum += x[(size_t)row * N + n];
  y[row] = sum;
}
