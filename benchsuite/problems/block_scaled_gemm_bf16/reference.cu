/* kernelwright
{
  "problem": "block_scaled_gemm_bf16",
  "backends": ["cpu", "cuda"],
  "description": "the reference: fp64, a block makes 64 x 64 elements of c through tiles in shared memory",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "ceil_div(M, 64)", 1],
     "block": ["min(8, max(ceil_div(N, 4), (M + N) * K / 65536))",
               "min(16, max(max(4, ceil_div(M, 4)), (M + N) * K / 32768))", 1],
     "args": ["a", "b", "scale_a", "scale_b", "c", "M", "N", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// c[m, n] = sum over blocks j of 128 columns of scale_a[j, m] * scale_b[n / 128, j] * sum_{k in j} a[m, k] * b[n, k];
// a: [M, K], b: [N, K], c: [M, N], scale_a: [ceil(K / 128), M], scale_b: [ceil(N / 128), ceil(K / 128)], all row-major.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <kw/exact_product.cuh>

extern "C" __global__ void __launch_bounds__(128, 3)
    gemm(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* scale_a, const float* scale_b, double* c, int M,
         int N, int K) {
  kw::exact_tile<true>(
      blockIdx.y * 64, M, blockIdx.x * 64, N, K,
      [&](int m, int k) { return (double)scale_a[(size_t)(k / 128) * M + m] * float(a[(size_t)m * K + k]); },
      [&](int k, int n) {
        return (double)scale_b[n / 128 * ((K + 127) / 128) + k / 128] * float(b[(size_t)n * K + k]);
      },
      [&](int m, int n, double sum) { c[(size_t)m * N + n] = sum; });
}
