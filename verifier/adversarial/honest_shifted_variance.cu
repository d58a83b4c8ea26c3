/* kernelwright
{
  "problem": "layernorm_f32",
  "backends": ["cpu", "cuda"],
  "description": "mean of squares less squared mean, of the row shifted by its first element",
  "launches": [
    {"kernel": "layernorm", "grid": ["ceil_div(M, 32)", 1, 1], "block": [32, 1, 1], "args": ["x", "gamma", "beta", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int M, int N) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  const double shift = in[0];
  double sum = 0, squares = 0;
  for (int n = 0; n < N; ++n) {
    const double v = in[n] - shift;
    sum += v;
    squares += v * v;
  }
  const double mean = sum / N;
  const double variance = squares / N - mean * mean;
  const double scale = 1.0 / sqrt((variance > 0 ? variance : 0) + 1e-5);
  for (int n = 0; n < N; ++n) out[n] = (float)(((in[n] - shift) - mean) * scale) * gamma[n] + beta[n];
}
