/* kernelwright
{
  "problem": "dequantize_f16",
  "backends": ["cpu"],
  "description": "a thread to a group of 128; the sixteen possible numbers of a group are computed once",
  "launches": [
    {"kernel": "dequantize", "grid": ["N * (K / 128)"], "block": [1], "args": ["packed", "scales", "zeros", "w"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
#include <cuda_fp16.h>
extern "C" __global__ void dequantize(const uint8_t* __restrict__ packed, const __half* __restrict__ scales,
                                      const __half* __restrict__ zeros, __half* __restrict__ w) {
  const int i = blockIdx.x;
  const float scale = __half2float(scales[i]), zero = __half2float(zeros[i]);
  const bool whole = zero == (float)(int)zero;
  __half table[16];
  for (int q = 0; q < 16; ++q) table[q] = __float2half((whole ? (float)(q - (int)zero) : q - zero) * scale);
  for (int j = 0; j < 64; ++j) {
    const uint8_t two = packed[(size_t)i * 64 + j];
    w[(size_t)i * 128 + 2 * j] = table[two & 15];
    w[(size_t)i * 128 + 2 * j + 1] = table[two >> 4];
  }
}
