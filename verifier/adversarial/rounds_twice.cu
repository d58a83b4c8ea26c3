/* kernelwright
{
  "problem": "rmsnorm_f16",
  "backends": ["cpu", "cuda"],
  "description": "multiplies by the weight in f16",
  "launches": [
    {"kernel": "rmsnorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "w", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
#include <cuda_fp16.h>
extern "C" __global__ void rmsnorm(const __half* x, const __half* w, __half* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const __half* in = x + (size_t)row * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += __half2float(in[n]) * __half2float(in[n]);
  const float scale = rsqrtf(sum / N + 1e-5f);
  for (int n = 0; n < N; ++n) y[(size_t)row * N + n] = __hmul(__float2half(__half2float(in[n]) * scale), w[n]);
}
