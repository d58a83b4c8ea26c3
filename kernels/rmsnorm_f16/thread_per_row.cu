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
// For the cpu device, where a barrier or shuffle between lanes costs more than it saves. A host converts two halves in the
// time of one, and SUMS independent sums let several additions be under way, which naive's one sum does not. Rows of odd
// length begin between two pairs: there an element is taken at a time.
//
// Measured on two cores (Debian 12, g++ 12), 256 x 2048, 2026-11-28: 1.21x naive with 16 sums, 1.27x with 64.
#include <cuda_fp16.h>

__device__ float2 pair_at(const __half* row, int n) { return __half22float2(*(const __half2*)(row + n)); }

extern "C" __global__ void rmsnorm(const __half* __restrict__ x, const __half* __restrict__ w, __half* __restrict__ y,
                                   int M, int N) {
  const int row = blockIdx.x * ROWS + threadIdx.x;
  if (row >= M) return;
  const __half* __restrict__ in = x + (size_t)row * N;
  __half* __restrict__ out = y + (size_t)row * N;
  const int paired = N % 2 == 0 ? N : 0;
  float sums[SUMS] = {};
  int n = 0;
  for (; n + SUMS <= paired; n += SUMS) {
#pragma unroll
    for (int s = 0; s < SUMS; s += 2) {
      const float2 pair = pair_at(in, n + s);
      sums[s] += pair.x * pair.x;
      sums[s + 1] += pair.y * pair.y;
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
  for (n = 0; n < paired; n += 2) {
    const float2 value = pair_at(in, n), weight = pair_at(w, n);
    *(__half2*)(out + n) = __floats2half2_rn(value.x * scale * weight.x, value.y * scale * weight.y);
  }
  for (; n < N; ++n) out[n] = __float2half(__half2float(in[n]) * scale * __half2float(w[n]));
}
