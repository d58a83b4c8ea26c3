/* kernelwright
{
  "problem": "rmsnorm_f16",
  "backends": ["cpu"],
  "description": "a thread for each row, several running sums",
  "tunables": {"ROWS": [64, 32, 16, 8], "SUMS": [16, 64, 32, 8]},
  "launches": [
    {"kernel": "rmsnorm", "grid": ["ceil_div(M, ROWS)"], "block": ["ROWS"], "args": ["x", "w", "y", "M", "N"]}
  ]
}
*/
// y[m, n] = x[m, n] * rsqrt(sum_k x[m, k]^2 / N + 1e-5) * w[n]; x, y: [M, N] row-major, w: [N].
//
// For the cpu device, where a barrier or shuffle between lanes costs more than it saves and a host converts one half at
// a time: SUMS independent sums let several additions be under way, which naive's one sum does not.
//
// Measured on two cores (Debian 12, g++ 12), 256 x 2048, 2026-11-25: 1.10x naive at the default point.
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm(const __half* __restrict__ x, const __half* __restrict__ w, __half* __restrict__ y,
                                   int M, int N) {
  const int row = blockIdx.x * ROWS + threadIdx.x;
  if (row >= M) return;
  const __half* __restrict__ in = x + (size_t)row * N;
  __half* __restrict__ out = y + (size_t)row * N;
  float sums[SUMS] = {};
  int n = 0;
  for (; n + SUMS <= N; n += SUMS) {
#pragma unroll
    for (int s = 0; s < SUMS; ++s) {
      const float value = __half2float(in[n + s]);
      sums[s] += value * value;
    }
  }
  float sum = 0;
  for (; n < N; ++n) {
    const float value = __half2float(in[n]);
    sum += value * value;
  }
#pragma unroll
  for (int s = 0; s < SUMS; ++s) sum += sums[s];
  const float scale = rsqrtf(sum / N + 1e-5f);
  for (int i = 0; i < N; ++i) out[i] = __float2half(__half2float(in[i]) * scale * __half2float(w[i]));
}
