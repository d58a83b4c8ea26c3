/* kernelwright
{
  "problem": "rmsnorm_f16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per row",
  "launches": [
    {"kernel": "rmsnorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "w", "y", "M", "N"]}
  ]
}
*/
// y[m, n] = x[m, n] * rsqrt(sum_k x[m, k]^2 / N + 1e-5) * w[n]; x, y: [M, N] row-major, w: [N].
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm(const __half* x, const __half* w, __half* y, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const __half* in = x + (size_t)row * N;
  __half* out = y + (size_t)row * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) {
    const float v = __half2float(in[n]);
    sum += v * v;
  }
  const float scale = rsqrtf(sum / N + 1e-5f);
  for (int n = 0; n < N; ++n) out[n] = __float2half(__half2float(in[n]) * scale * __half2float(w[n]));
}
