/* kernelwright
{
  "problem": "mean_variance_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per row, two passes",
  "launches": [
    {"kernel": "mean_variance", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "mean", "variance", "M", "N"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// mean[m] = sum_n x[m, n] / N, variance[m] = sum_n (x[m, n] - mean[m])^2 / N; x: [M, N] row-major, mean, variance: [M].
extern "C" __global__ void mean_variance(const float* x, double* mean, double* variance, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  double sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  const double middle = sum / N;
  double squares = 0;
  for (int n = 0; n < N; ++n) {
    const double distance = in[n] - middle;
    squares += distance * distance;
  }
  mean[row] = middle;
  variance[row] = squares / N;
}
