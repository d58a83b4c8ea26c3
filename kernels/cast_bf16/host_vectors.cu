/* kernelwright
{
  "problem": "cast_bf16",
  "backends": ["cpu"],
  "description": "vectors of LANES elements, ITEMS of them per thread",
  "tunables": {"LANES": [16, 8, 32], "ITEMS": [256, 64, 1024]},
  "launches": [
    {"kernel": "cast", "grid": ["ceil_div(N, LANES * ITEMS)"], "block": [1], "args": ["x", "y", "N"]}
  ]
}
*/
// y[i] = bf16(x[i]); x, y: [N].
//
// For the cpu device, whose compiler forms vector instructions only of vectors that are written as such. A bf16 is the
// upper half of a float, so rounding to nearest even is an integer addition. Inputs are finite, hence NaN needs no case
// of its own.
#include <cuda_bf16.h>

typedef unsigned short Bits __attribute__((vector_size(2 * LANES), aligned(2)));
typedef unsigned Words __attribute__((vector_size(4 * LANES), aligned(4)));

extern "C" __global__ void cast(const float* __restrict__ x, __nv_bfloat16* __restrict__ y, int N) {
  int i = blockIdx.x * (LANES * ITEMS);
  const int end = N - i < LANES * ITEMS ? N : i + LANES * ITEMS;
  for (; i + LANES <= end; i += LANES) {
    const Words bits = *(const Words*)(x + i);
    *(Bits*)(y + i) = __builtin_convertvector((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, Bits);
  }
  for (; i < end; ++i) y[i] = __float2bfloat16(x[i]);
}
