/* kernelwright
{
  "problem": "linear_gelu_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block makes 64 x 64 elements of c through tiles in shared memory",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "ceil_div(M, 64)", 1],
     "block": ["min(8, max(ceil_div(N, 4), (M + N) * K / 65536))",
               "min(16, max(max(4, ceil_div(M, 4)), (M + N) * K / 32768))", 1],
     "args": ["x", "w", "b", "y", "M", "N", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[m, n] = gelu(sum_k x[m, k] * w[n, k] + b[n]) with the tanh form of gelu; x: [M, K], w: [N, K], b: [N], y: [M, N].
#include <cuda_bf16.h>
#include <kw/exact_product.cuh>

__device__ double gelu(double v) {
  const double u = 0.79788456080286535588 * (v + 0.044715 * v * v * v);
  return v / (1 + exp(-2 * u));
}

extern "C" __global__ void __launch_bounds__(128, 3)
    gemm(const __nv_bfloat16* x, const __nv_bfloat16* w, const __nv_bfloat16* b, double* y, int M, int N, int K) {
  kw::exact_tile<true>(
      blockIdx.y * 64, M, blockIdx.x * 64, N, K, [&](int m, int k) { return __bfloat162float(x[(size_t)m * K + k]); },
      [&](int k, int n) { return __bfloat162float(w[(size_t)n * K + k]); },
      [&](int m, int n, double sum) { y[(size_t)m * N + n] = gelu(sum + __bfloat162float(b[n])); });
}
