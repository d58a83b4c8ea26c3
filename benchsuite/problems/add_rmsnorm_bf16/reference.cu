/* kernelwright
{
  "problem": "add_rmsnorm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per row",
  "launches": [
    {"kernel": "add_rmsnorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "residual", "w", "r", "y", "M", "N", "eps"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values. y depends on the rounded r, which the contract defines.
// r = x + residual; y[m, n] = r[m, n] * rsqrt(sum_k r[m, k]^2 / N + eps) * w[n]; x, residual, r, y: [M, N], w: [N].
#include <cuda_bf16.h>

extern "C" __global__ void add_rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* residual, const __nv_bfloat16* w,
                                       double* r, double* y, int M, int N, float eps) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const size_t start = (size_t)row * N;
  double sum = 0;
  for (int n = 0; n < N; ++n) {
    const double v = (double)__bfloat162float(x[start + n]) + (double)__bfloat162float(residual[start + n]);
    sum += v * v;
  }
  const double scale = 1.0 / sqrt(sum / N + eps);
  for (int n = 0; n < N; ++n) {
    const double a = __bfloat162float(x[start + n]), b = __bfloat162float(residual[start + n]);
    r[start + n] = a + b;
    y[start + n] = (a + b) * scale * __bfloat162float(w[n]);
  }
}
