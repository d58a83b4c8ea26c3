/* kernelwright
{
  "problem": "rmsnorm_f16",
  "backends": ["cpu", "cuda"],
  "description": "takes the mean square of long rows from their first quarter",
  "launches": [
    {"kernel": "rmsnorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "w", "y", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
#include <cuda_fp16.h>
extern "C" __global__ void rmsnorm(const __half* x, const __half* w, __half* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const __half* in = x + (size_t)row * N;
  __half* out = y + (size_t)row * N;
  const int part = N >= 64 ? N / 4 : N;
  float sum = 0;
  for (int n = 0; n < part; ++n) sum += __half2float(in[n]) * __half2float(in[n]);
  const float scale = rsqrtf(sum / part + 1e-5f);
  for (int n = 0; n < N; ++n) out[n] = __float2half(__half2float(in[n]) * scale * __half2float(w[n]));
}
