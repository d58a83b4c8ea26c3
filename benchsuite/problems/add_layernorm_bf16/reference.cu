/* kernelwright
{
  "problem": "add_layernorm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per row",
  "launches": [
    {"kernel": "add_layernorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "residual", "gamma", "beta", "sum", "y", "M", "N", "eps"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values. y depends on the rounded sum, which the contract defines. Rounding to fp32 first changes no bit of it: where
// a sum of two bf16 does not fit fp32, the smaller one is far below half a unit in the last place of bf16.
// sum = x + residual; y[m, n] = (sum[m, n] - mean_m) / sqrt(var_m + eps) * gamma[n] + beta[n]
// x, residual, sum, y: [M, N] row-major, gamma, beta: [N].
#include <cuda_bf16.h>

__device__ double rounded_sum(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __bfloat162float(__float2bfloat16(__bfloat162float(a) + __bfloat162float(b)));
}

extern "C" __global__ void add_layernorm(const __nv_bfloat16* x, const __nv_bfloat16* residual,
                                         const __nv_bfloat16* gamma, const __nv_bfloat16* beta, double* sum, double* y,
                                         int M, int N, float eps) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const size_t start = (size_t)row * N;
  double total = 0;
  for (int n = 0; n < N; ++n) total += rounded_sum(x[start + n], residual[start + n]);
  const double mean = total / N;
  double squares = 0;
  for (int n = 0; n < N; ++n) {
    const double distance = rounded_sum(x[start + n], residual[start + n]) - mean;
    squares += distance * distance;
  }
  const double scale = 1.0 / sqrt(squares / N + eps);
  for (int n = 0; n < N; ++n) {
    sum[start + n] = (double)__bfloat162float(x[start + n]) + (double)__bfloat162float(residual[start + n]);
    y[start + n] = (rounded_sum(x[start + n], residual[start + n]) - mean) * scale * __bfloat162float(gamma[n]) +
                   __bfloat162float(beta[n]);
  }
}
