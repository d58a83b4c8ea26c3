/* kernelwright
{
  "problem": "cumsum_rows_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per row",
  "launches": [
    {"kernel": "cumsum_rows", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[m, n] = sum_{k <= n} x[m, k]; x, y: [M, N] row-major.
extern "C" __global__ void cumsum_rows(const float* x, double* y, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  double* out = y + (size_t)row * N;
  double sum = 0;
  for (int n = 0; n < N; ++n) {
    sum += in[n];
    out[n] = sum;
  }
}
