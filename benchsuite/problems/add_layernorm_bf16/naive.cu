/* kernelwright
{
  "problem": "add_layernorm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per row, mean first, then the variance",
  "launches": [
    {"kernel": "add_layernorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "residual", "gamma", "beta", "sum", "y", "M", "N", "eps"]}
  ]
}
*/
// sum = x + residual; y[m, n] = (sum[m, n] - mean_m) / sqrt(var_m + eps) * gamma[n] + beta[n]
// x, residual, sum, y: [M, N] row-major, gamma, beta: [N].
#include <cuda_bf16.h>

extern "C" __global__ void add_layernorm(const __nv_bfloat16* x, const __nv_bfloat16* residual,
                                         const __nv_bfloat16* gamma, const __nv_bfloat16* beta, __nv_bfloat16* sum,
                                         __nv_bfloat16* y, int M, int N, float eps) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const size_t start = (size_t)row * N;
  float total = 0;
  for (int n = 0; n < N; ++n) {
    const __nv_bfloat16 rounded =
        __float2bfloat16(__bfloat162float(x[start + n]) + __bfloat162float(residual[start + n]));
    sum[start + n] = rounded;
    total += __bfloat162float(rounded);
  }
  const float mean = total / N;
  float squares = 0;
  for (int n = 0; n < N; ++n) {
    const float distance = __bfloat162float(sum[start + n]) - mean;
    squares += distance * distance;
  }
  const float scale = 1.0f / sqrtf(squares / N + eps);
  for (int n = 0; n < N; ++n) {
    y[start + n] = __float2bfloat16((__bfloat162float(sum[start + n]) - mean) * scale * __bfloat162float(gamma[n]) +
                                    __bfloat162float(beta[n]));
  }
}
