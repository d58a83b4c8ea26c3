/* kernelwright
{
  "problem": "layernorm_f32",
  "backends": ["cpu", "cuda"],
  "description": "takes the reciprocal root from a trick with bits and STEPS steps of Newton",
  "tunables": {"STEPS": [0, 1, 2]},
  "launches": [
    {"kernel": "layernorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "gamma", "beta", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result or wrong_non_finite.
// On cuda: wrong_result or wrong_non_finite.
__device__ float short_rsqrt(float v) {
  float r = __int_as_float(0x5f3759df - (__float_as_int(v) >> 1));
  for (int i = 0; i < STEPS; ++i) r *= 1.5f - 0.5f * v * r * r;
  return r;
}
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  const float mean = sum / N;
  float squares = 0;
  for (int n = 0; n < N; ++n) squares += (in[n] - mean) * (in[n] - mean);
  const float scale = short_rsqrt(squares / N + 1e-5f);
  for (int n = 0; n < N; ++n) out[n] = (in[n] - mean) * scale * gamma[n] + beta[n];
}
