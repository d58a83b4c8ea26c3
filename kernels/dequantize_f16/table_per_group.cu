/* kernelwright
{
  "problem": "dequantize_f16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread to a group of 128; the sixteen possible numbers of a group are computed once and looked up",
  "tunables": {"BLOCK": [32, 1, 8, 64]},
  "launches": [
    {"kernel": "dequantize", "grid": ["ceil_div(N * (K / 128), BLOCK)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["packed", "scales", "zeros", "w", "N * (K / 128)"]}
  ]
}
*/
// w[n, k] = (q[n, k] - zeros[n, k / 128]) * scales[n, k / 128]; packed: [N, K / 2], low bits first, scales, zeros:
// [N, K / 128], w: [N, K], all row-major.
//
// For processors on which a conversion costs more than a load, such as the cpu device's. A group has one scale and one
// zero point, so each of its numbers is one of sixteen.
#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(BLOCK)
    dequantize(const uint8_t* __restrict__ packed, const __half* __restrict__ scales, const __half* __restrict__ zeros,
               __half* __restrict__ w, int groups) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= groups) return;
  const uint8_t* __restrict__ in = packed + (size_t)i * 64;
  unsigned short* __restrict__ out = (unsigned short*)w + (size_t)i * 128;
  const float scale = __half2float(scales[i]), zero = __half2float(zeros[i]);
  unsigned short table[16];
#pragma unroll
  for (int q = 0; q < 16; ++q) table[q] = __half_as_ushort(__float2half((q - zero) * scale));
#pragma unroll 8
  for (int j = 0; j < 64; ++j) {
    out[2 * j] = table[in[j] & 15];
    out[2 * j + 1] = table[in[j] >> 4];
  }
}
