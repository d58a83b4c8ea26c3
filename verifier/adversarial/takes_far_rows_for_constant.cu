/* kernelwright
{
  "problem": "layernorm_f32",
  "backends": ["cpu", "cuda"],
  "description": "takes a row for constant whose deviation is small beside its mean",
  "launches": [
    {"kernel": "layernorm", "grid": ["ceil_div(M, 32)", 1, 1], "block": [32, 1, 1], "args": ["x", "gamma", "beta", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int M, int N) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float sum = 0, squares = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  const float mean = sum / N;
  for (int n = 0; n < N; ++n) squares += (in[n] - mean) * (in[n] - mean);
  const float variance = squares / N;
  const bool constant = N >= 64 && variance < 1e-6f * mean * mean;
  const float scale = constant ? 0.0f : 1.0f / sqrtf(variance + 1e-5f);
  for (int n = 0; n < N; ++n) out[n] = (in[n] - mean) * scale * gamma[n] + beta[n];
}
