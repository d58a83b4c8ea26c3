/* kernelwright
{
  "problem": "layernorm_f32",
  "backends": ["cpu", "cuda"],
  "description": "takes the mean of a row for zero, as it is on the average of N(0, 1)",
  "launches": [
    {"kernel": "layernorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "gamma", "beta", "y", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float squares = 0;
  for (int n = 0; n < N; ++n) squares += in[n] * in[n];
  const float scale = 1.0f / sqrtf(squares / N + 1e-5f);
  for (int n = 0; n < N; ++n) out[n] = in[n] * scale * gamma[n] + beta[n];
}
