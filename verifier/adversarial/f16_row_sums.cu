/* kernelwright
{
  "problem": "rmsnorm_f16",
  "backends": ["cpu", "cuda"],
  "description": "adds squares in half precision, which overflows and loses bits",
  "launches": [
    {"kernel": "rmsnorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "w", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result or wrong_non_finite.
// On cuda: wrong_result or wrong_non_finite.
#include <cuda_fp16.h>
extern "C" __global__ void rmsnorm(const __half* x, const __half* w, __half* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const __half* in = x + (size_t)row * N;
  __half* out = y + (size_t)row * N;
  __half sum = __float2half(0.0f);
  for (int n = 0; n < N; ++n) sum = __hfma(in[n], in[n], sum);
  const float scale = rsqrtf(__half2float(sum) / N + 1e-5f);
  for (int n = 0; n < N; ++n) out[n] = __float2half(__half2float(in[n]) * scale * __half2float(w[n]));
}
