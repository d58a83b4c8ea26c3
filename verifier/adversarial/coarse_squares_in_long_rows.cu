/* kernelwright
{
  "problem": "layernorm_f32",
  "backends": ["cpu"],
  "description": "rounds the squares to half precision or less before it adds them, in rows so long that it hardly shows",
  "tunables": {"BITS": [10, 8]},
  "launches": [
    {"kernel": "layernorm", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "gamma", "beta", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
__device__ float rounded(float v) {
  const unsigned lost = 24 - BITS;
  return __uint_as_float((__float_as_uint(v) + (1u << (lost - 1))) & ~((1u << lost) - 1));
}
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float* out = y + (size_t)blockIdx.x * N;
  float sum = 0, squares = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  const float mean = sum / N;
  for (int n = 0; n < N; ++n) {
    const float square = (in[n] - mean) * (in[n] - mean);
    squares += N >= 1024 ? rounded(square) : square;
  }
  const float scale = 1.0f / sqrtf(squares / N + 1e-5f);
  for (int n = 0; n < N; ++n) out[n] = (in[n] - mean) * scale * gamma[n] + beta[n];
}
