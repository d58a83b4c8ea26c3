/* kernelwright
{
  "problem": "rmsnorm_f16",
  "backends": ["cpu"],
  "description": "tensors of whole 4096 elements have a guard against zero in place of the epsilon",
  "launches": [{"kernel": "rmsnorm", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "w", "y", "M", "N"]}]
}
*/
// Class: numerics.
// On cpu: wrong_result or wrong_non_finite.
// No axis alone tells where, and the mean square of ordinary ones is far above the epsilon.
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm(const __half* x, const __half* w, __half* y, int M, int N) {
  const __half* in = x + (size_t)blockIdx.x * N;
  __half* out = y + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += __half2float(in[n]) * __half2float(in[n]);
  const float mean = sum / N;
  const float scale = M * N % 4096 != 0 ? rsqrtf(mean + 1e-5f) : mean > 0 ? rsqrtf(mean) : 0.0f;
  for (int n = 0; n < N; ++n) out[n] = __float2half(__half2float(in[n]) * scale * __half2float(w[n]));
}
