/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "rounds what it multiplies to BITS bits of significand: 10 as TF32 and half",
  "tunables": {"BITS": [6, 8, 10, 12], "DRAWN": [0, 1]},
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
// DRAWN: cut off or rounded to the nearest.
__device__ float rounded(float v) {
  const unsigned bits = __float_as_uint(v), step = 1u << (23 - BITS);
  return isfinite(v) ? __uint_as_float((bits + (DRAWN ? step / 2 : 0)) & ~(step - 1)) : v;
}
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += rounded(a[(size_t)m * K + k]) * rounded(b[(size_t)k * N + n]);
  c[(size_t)m * N + n] = sum;
}
