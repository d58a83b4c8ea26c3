/* kernelwright
{
  "problem": "grouped_gemm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block makes 64 x 64 elements of y, of one expert after the other",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "ceil_div(T, 64)", 1],
     "block": ["min(8, max(ceil_div(N, 4), (T + N) * K / 65536))",
               "min(16, max(max(4, ceil_div(T, 4)), (T + N) * K / 32768))", 1],
     "args": ["x", "w", "offsets", "y", "T", "N", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[t, n] = sum_k x[t, k] * w[e, n, k] for offsets[e] <= t < offsets[e + 1]; x: [T, K], w: [E, N, K], offsets: [E + 1],
// y: [T, N], all row-major.
#include <cuda_bf16.h>
#include <kw/exact_product.cuh>

extern "C" __global__ void __launch_bounds__(128, 3)
    gemm(const __nv_bfloat16* x, const __nv_bfloat16* w, const int* offsets, double* y, int T, int N, int K) {
  int t = blockIdx.y * 64, e = 0;
  const int end = min(t + 64, T);
  while (t < end) {
    while (offsets[e + 1] <= t) ++e;
    const __nv_bfloat16* own = w + (size_t)e * N * K;
    const int until = min(end, offsets[e + 1]);
    __syncthreads();
    kw::exact_tile<true>(
        t, until, blockIdx.x * 64, N, K, [&](int m, int k) { return __bfloat162float(x[(size_t)m * K + k]); },
        [&](int k, int n) { return __bfloat162float(own[(size_t)n * K + k]); },
        [&](int m, int n, double sum) { y[(size_t)m * N + n] = sum; });
    t = until;
  }
}
