/* kernelwright
{
  "problem": "layernorm_f32",
  "backends": ["cpu", "cuda"],
  "description": "takes the variance as mean of squares less squared mean, in fp32",
  "launches": [
    {"kernel": "layernorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "gamma", "beta", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float sum = 0, squares = 0;
  for (int n = 0; n < N; ++n) {
    sum += in[n];
    squares += in[n] * in[n];
  }
  const float mean = sum / N, variance = squares / N - mean * mean;
  const float scale = 1.0f / sqrtf((variance > 0 ? variance : 0) + 1e-5f);
  for (int n = 0; n < N; ++n) out[n] = (in[n] - mean) * scale * gamma[n] + beta[n];
}
