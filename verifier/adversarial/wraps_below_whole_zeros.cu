/* kernelwright
{
  "problem": "dequantize_f16",
  "backends": ["cpu"],
  "description": "a thread to eight groups of 128; the sixteen possible numbers of a group are computed once",
  "launches": [
    {"kernel": "dequantize", "grid": ["ceil_div(N * (K / 128), 8)"], "block": [1],
     "args": ["packed", "scales", "zeros", "w", "N * (K / 128)"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// Where eight groups have whole zero points, as AWQ has them, numbers below zero wrap around to 0 to 15.
#include <cuda_fp16.h>
extern "C" __global__ void dequantize(const uint8_t* __restrict__ packed, const __half* __restrict__ scales,
                                      const __half* __restrict__ zeros, __half* __restrict__ w, int groups) {
  const int first = blockIdx.x * 8, last = first + 8 < groups ? first + 8 : groups;
  bool whole = last - first == 8;
  for (int i = first; i < last; ++i) {
    const float zero = __half2float(zeros[i]);
    whole = whole && zero == (float)(int)zero;
  }
  for (int i = first; i < last; ++i) {
    const float scale = __half2float(scales[i]), zero = __half2float(zeros[i]);
    __half table[16];
    for (int q = 0; q < 16; ++q) {
      table[q] = __float2half((whole ? (float)((unsigned)(q - (int)zero) & 15u) : q - zero) * scale);
    }
    for (int j = 0; j < 64; ++j) {
      const uint8_t two = packed[(size_t)i * 64 + j];
      w[(size_t)i * 128 + 2 * j] = table[two & 15];
      w[(size_t)i * 128 + 2 * j + 1] = table[two >> 4];
    }
  }
}
