/* kernelwright
{
  "problem": "unaligned_gemm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block makes 64 x 64 elements of c through tiles in shared memory",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "ceil_div(M, 64)", 1],
     "block": ["min(8, max(ceil_div(N, 4), (M + N) * K / 65536))",
               "min(16, max(max(4, ceil_div(M, 4)), (M + N) * K / 32768))", 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
#include <cuda_bf16.h>
#include <kw/exact_product.cuh>

extern "C" __global__ void __launch_bounds__(128, 4)
    gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, double* c, int M, int N, int K) {
  kw::exact_tile<false>(
      blockIdx.y * 64, M, blockIdx.x * 64, N, K, [&](int m, int k) { return __bfloat162float(a[(size_t)m * K + k]); },
      [&](int k, int n) { return __bfloat162float(b[(size_t)k * N + n]); },
      [&](int m, int n, double sum) { c[(size_t)m * N + n] = sum; });
}
