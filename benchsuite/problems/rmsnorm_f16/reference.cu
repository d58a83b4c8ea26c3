/* kernelwright
{
  "problem": "rmsnorm_f16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per row",
  "launches": [
    {"kernel": "rmsnorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "w", "y", "M", "N"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[m, n] = x[m, n] * rsqrt(sum_k x[m, k]^2 / N + 1e-5) * w[n]; x, y: [M, N] row-major, w: [N].
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm(const __half* x, const __half* w, double* y, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const __half* in = x + (size_t)row * N;
  double* out = y + (size_t)row * N;
  double sum = 0;
  for (int n = 0; n < N; ++n) {
    const double v = __half2float(in[n]);
    sum += v * v;
  }
  const double scale = 1.0 / sqrt(sum / N + 1e-5);
  for (int n = 0; n < N; ++n) out[n] = __half2float(in[n]) * scale * __half2float(w[n]);
}
