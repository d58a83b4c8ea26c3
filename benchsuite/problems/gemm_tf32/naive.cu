/* kernelwright
{
  "problem": "gemm_tf32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element of c, factors rounded to TF32",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// TF32 keeps 10 bits of an f32's mantissa. Factors are rounded to the nearest such number, halves away from zero.
__device__ __forceinline__ float tf32(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }

extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  const int m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += tf32(a[(size_t)m * K + k]) * tf32(b[(size_t)k * N + n]);
  c[(size_t)m * N + n] = sum;
}
