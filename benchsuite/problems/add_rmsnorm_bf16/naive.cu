/* kernelwright
{
  "problem": "add_rmsnorm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per row",
  "launches": [
    {"kernel": "add_rmsnorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "residual", "w", "r", "y", "M", "N", "eps"]}
  ]
}
*/
// r = x + residual; y[m, n] = r[m, n] * rsqrt(sum_k r[m, k]^2 / N + eps) * w[n]; x, residual, r, y: [M, N], w: [N].
#include <cuda_bf16.h>

extern "C" __global__ void add_rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* residual, const __nv_bfloat16* w,
                                       __nv_bfloat16* r, __nv_bfloat16* y, int M, int N, float eps) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const size_t start = (size_t)row * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) {
    const __nv_bfloat16 rounded =
        __float2bfloat16(__bfloat162float(x[start + n]) + __bfloat162float(residual[start + n]));
    r[start + n] = rounded;
    const float v = __bfloat162float(rounded);
    sum += v * v;
  }
  const float scale = rsqrtf(sum / N + eps);
  for (int n = 0; n < N; ++n) {
    y[start + n] = __float2bfloat16(__bfloat162float(r[start + n]) * scale * __bfloat162float(w[n]));
  }
}
