/* kernelwright
{
  "problem": "layernorm_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per row",
  "launches": [
    {"kernel": "layernorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "gamma", "beta", "y", "M", "N"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[m, n] = (x[m, n] - mean_m) / sqrt(var_m + 1e-5) * gamma[n] + beta[n]
// x, y: [M, N] row-major, gamma, beta: [N].
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, double* y, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  double* out = y + (size_t)row * N;
  double sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  const double mean = sum / N;
  double squares = 0;
  for (int n = 0; n < N; ++n) squares += (in[n] - mean) * (in[n] - mean);
  const double scale = 1.0 / sqrt(squares / N + 1e-5);
  for (int n = 0; n < N; ++n) out[n] = (in[n] - mean) * scale * gamma[n] + beta[n];
}
