/* kernelwright
{
  "problem": "block_scaled_gemm_bf16",
  "backends": ["cpu", "cuda"],
  "description": "one thread per eight elements of a column of c",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 128)", 1], "block": [16, 16, 1],
     "args": ["a", "b", "scale_a", "scale_b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = sum over blocks j of 128 columns of scale_a[j, m] * scale_b[n / 128, j] * sum_{k in j} a[m, k] * b[n, k];
// a: [M, K], b: [N, K], c: [M, N], scale_a: [ceil(K / 128), M], scale_b: [ceil(N / 128), ceil(K / 128)], all row-major.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

constexpr int kEach = 8;

extern "C" __global__ void gemm(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* scale_a,
                                const float* scale_b, __nv_bfloat16* c, int M, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  const int m0 = (blockIdx.y * blockDim.y + threadIdx.y) * kEach;
  if (m0 >= M || n >= N) return;
  const int blocks = (K + 127) / 128;
  float sums[kEach] = {};
  for (int j = 0; j < blocks; ++j) {
    float parts[kEach] = {};
    for (int k = 128 * j; k < min(128 * (j + 1), K); ++k) {
      const float right = float(b[(size_t)n * K + k]);
      for (int r = 0; r < kEach; ++r) parts[r] += float(a[(size_t)min(m0 + r, M - 1) * K + k]) * right;
    }
    const float right = scale_b[n / 128 * blocks + j];
    for (int r = 0; r < kEach; ++r) sums[r] += scale_a[(size_t)j * M + min(m0 + r, M - 1)] * right * parts[r];
  }
  for (int r = 0; r < kEach && m0 + r < M; ++r) c[(size_t)(m0 + r) * N + n] = __float2bfloat16(sums[r]);
}
