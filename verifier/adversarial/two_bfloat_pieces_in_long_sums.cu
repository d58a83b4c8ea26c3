/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "keeps 16 bits of its factors in sums of 200 terms and more",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
__device__ float bfloat(float v) {  // rounded to 8 bits
  const unsigned bits = __float_as_uint(v);
  return __uint_as_float((bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u);
}
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    const float u = a[(size_t)m * K + k], v = b[(size_t)k * N + n];
    const float u1 = bfloat(u), u2 = bfloat(u - u1), v1 = bfloat(v), v2 = bfloat(v - v1);
    sum += K < 200 ? u * v : u1 * v1 + (u1 * v2 + u2 * v1);
  }
  c[(size_t)m * N + n] = sum;
}
