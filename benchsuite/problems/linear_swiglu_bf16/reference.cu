/* kernelwright
{
  "problem": "linear_swiglu_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block makes 64 x 64 elements of y through tiles in shared memory",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "ceil_div(M, 64)", 1],
     "block": ["min(8, max(ceil_div(N, 4), (M + N) * K / 65536))",
               "min(16, max(max(4, ceil_div(M, 4)), (M + N) * K / 32768))", 1],
     "args": ["x", "w_gate", "w_up", "y", "M", "N", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[m, n] = g / (1 + exp(-g)) * u, g = sum_k x[m, k] * w_gate[n, k], u = sum_k x[m, k] * w_up[n, k]; x: [M, K], w_gate,
// w_up: [N, K], y: [M, N].
// Gates wait in y, in double, for the second product: an element's thread is the same in both.
#include <cuda_bf16.h>
#include <kw/exact_product.cuh>

extern "C" __global__ void __launch_bounds__(128, 3) gemm(const __nv_bfloat16* x, const __nv_bfloat16* w_gate,
                                                          const __nv_bfloat16* w_up, double* y, int M, int N, int K) {
  for (int part = 0; part < 2; ++part) {
    const __nv_bfloat16* w = part == 0 ? w_gate : w_up;
    __syncthreads();
    kw::exact_tile<true>(
        blockIdx.y * 64, M, blockIdx.x * 64, N, K, [&](int m, int k) { return __bfloat162float(x[(size_t)m * K + k]); },
        [&](int k, int n) { return __bfloat162float(w[(size_t)n * K + k]); },
        [&](int m, int n, double sum) {
          double& own = y[(size_t)m * N + n];
          own = part == 0 ? sum : own / (1 + exp(-own)) * sum;
        });
  }
}
