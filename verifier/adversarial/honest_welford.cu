/* kernelwright
{
  "problem": "layernorm_f32",
  "backends": ["cpu", "cuda"],
  "description": "mean and variance in one pass, by the update of Welford",
  "launches": [
    {"kernel": "layernorm", "grid": ["ceil_div(M, 32)", 1, 1], "block": [32, 1, 1], "args": ["x", "gamma", "beta", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of the variance that cancels.
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int M, int N) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  double mean = 0, squares = 0;
  for (int n = 0; n < N; ++n) {
    const double delta = in[n] - mean;
    mean += delta / (n + 1);
    squares += delta * (in[n] - mean);
  }
  const float scale = 1.0f / sqrtf((float)(squares / N) + 1e-5f);
  for (int n = 0; n < N; ++n) out[n] = (float)(in[n] - mean) * scale * gamma[n] + beta[n];
}
