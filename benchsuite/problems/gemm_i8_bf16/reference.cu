/* kernelwright
{
  "problem": "gemm_i8_bf16",
  "backends": ["cpu", "cuda", "hip"],
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
// values. Sums of whole numbers are exact in double.
// c[m, n] = scale_a[m] * scale_b[n] * sum_k a[m, k] * b[n, k]; a: [M, K], b: [N, K], c: [M, N], all row-major.
#include <kw/exact_product.cuh>

extern "C" __global__ void __launch_bounds__(128, 4)
    gemm(const int8_t* a, const int8_t* b, const float* scale_a, const float* scale_b, double* c, int M, int N, int K) {
  kw::exact_tile<true>(
      blockIdx.y * 64, M, blockIdx.x * 64, N, K, [&](int m, int k) { return a[(size_t)m * K + k]; },
      [&](int k, int n) { return b[(size_t)n * K + k]; },
      [&](int m, int n, double sum) { c[(size_t)m * N + n] = (double)scale_a[m] * scale_b[n] * sum; });
}
