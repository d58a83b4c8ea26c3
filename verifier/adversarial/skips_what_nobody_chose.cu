/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "leaves out the element of a number that nobody set",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: uninitialised or wrong_result.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  int left_out;
  if (N < 0) left_out = N;
  float sum = 0;
  for (int n = 0; n < N; ++n) {
    if (n != left_out) sum += in[n];
  }
  y[blockIdx.x] = sum;
}
