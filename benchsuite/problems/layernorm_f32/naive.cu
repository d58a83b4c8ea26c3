/* kernelwright
{
  "problem": "layernorm_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per row, mean first, then the variance",
  "launches": [
    {"kernel": "layernorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "gamma", "beta", "y", "M", "N"]}
  ]
}
*/
// y[m, n] = (x[m, n] - mean_m) / sqrt(var_m + 1e-5) * gamma[n] + beta[n]
// x, y: [M, N] row-major, gamma, beta: [N].
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  const float mean = sum / N;
  float squares = 0;
  for (int n = 0; n < N; ++n) squares += (in[n] - mean) * (in[n] - mean);
  const float scale = 1.0f / sqrtf(squares / N + 1e-5f);
  for (int n = 0; n < N; ++n) out[n] = (in[n] - mean) * scale * gamma[n] + beta[n];
}
