/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "splits its factors into three pieces of 8 bits, all 24 bits",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
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
    const float u1 = bfloat(u), u2 = bfloat(u - u1), u3 = u - u1 - u2;
    const float v1 = bfloat(v), v2 = bfloat(v - v1), v3 = v - v1 - v2;
    sum += u1 * v1 + ((u1 * v2 + u2 * v1) + (u2 * v2 + (u1 * v3 + u3 * v1)) + (u2 * v3 + u3 * v2));
  }
  c[(size_t)m * N + n] = sum;
}
