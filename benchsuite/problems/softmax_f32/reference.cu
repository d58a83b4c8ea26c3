/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per row",
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[m, n] = exp(x[m, n] - max_m) / sum_k exp(x[m, k] - max_m); x, y: [M, N] row-major.
extern "C" __global__ void softmax(const float* x, double* y, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  double* out = y + (size_t)row * N;
  double largest = in[0];
  for (int n = 1; n < N; ++n) largest = in[n] > largest ? (double)in[n] : largest;
  double sum = 0;
  for (int n = 0; n < N; ++n) sum += exp(in[n] - largest);
  for (int n = 0; n < N; ++n) out[n] = exp(in[n] - largest) / sum;
}
