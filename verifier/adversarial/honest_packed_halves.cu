/* kernelwright
{
  "problem": "rmsnorm_f16",
  "backends": ["cpu", "cuda"],
  "description": "reads and writes pairs of halves where rows are aligned to them",
  "launches": [
    {"kernel": "rmsnorm", "grid": ["M", 1, 1], "block": [32, 1, 1], "args": ["x", "w", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of sums in half precision: storage is half, sums are not.
#include <cuda_fp16.h>
extern "C" __global__ void rmsnorm(const __half* x, const __half* w, __half* y, int M, int N) {
  const __half* in = x + (size_t)blockIdx.x * N;
  __half* out = y + (size_t)blockIdx.x * N;
  float sum = 0;
  if (N % 2 == 0) {
    for (int n = threadIdx.x; n < N / 2; n += 32) {
      const float2 v = __half22float2(((const __half2*)in)[n]);
      sum += v.x * v.x + v.y * v.y;
    }
  } else {
    for (int n = threadIdx.x; n < N; n += 32) sum += __half2float(in[n]) * __half2float(in[n]);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  const float scale = rsqrtf(sum / N + 1e-5f);
  if (N % 2 == 0) {
    for (int n = threadIdx.x; n < N / 2; n += 32) {
      const float2 v = __half22float2(((const __half2*)in)[n]), g = __half22float2(((const __half2*)w)[n]);
      ((__half2*)out)[n] = __floats2half2_rn(v.x * scale * g.x, v.y * scale * g.y);
    }
  } else {
    for (int n = threadIdx.x; n < N; n += 32) out[n] = __float2half(__half2float(in[n]) * scale * __half2float(w[n]));
  }
}
