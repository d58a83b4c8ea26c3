/* kernelwright
{
  "problem": "dequantize_f8e4m3",
  "backends": ["cpu"],
  "description": "a thread for BLOCKS blocks of 128 columns, vectors of LANES elements; widening is integer operations",
  "tunables": {"LANES": [8, 16, 32], "BLOCKS": [8, 1, 32]},
  "launches": [
    {"kernel": "dequantize", "grid": ["ceil_div(M * (N / 128), BLOCKS)"], "block": [1],
     "args": ["q", "scales", "y", "M * (N / 128)"]}
  ]
}
*/
// y[128 i + j] = q[128 i + j] * scales[i] for i < blocks; q, y: [M, N] row-major, scales: [M, N / 128].
//
// For the cpu device, whose compiler forms vector instructions only of vectors that are written as such. The seven low
// bits of an e4m3, moved to a float's exponent and fraction, are the magnitude but for the bias. Below 2^-6 they are
// multiples of 2^-9: there the next exponent is taken and the one in front of the fraction subtracted again. A bf16 is
// the upper half of a float, and rounding to nearest even is an integer addition. Inputs are finite, hence NaN needs no
// case of its own.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

typedef unsigned char Bytes __attribute__((vector_size(LANES), aligned(1)));
typedef unsigned short Bits __attribute__((vector_size(2 * LANES), aligned(2)));
typedef unsigned Words __attribute__((vector_size(4 * LANES)));
typedef float Floats __attribute__((vector_size(4 * LANES)));

__device__ __forceinline__ Floats widen(Bytes bytes) {
  const Words word = __builtin_convertvector(bytes, Words), magnitude = (word & 0x7fu) << 20;
  const Words small = (Words)((Floats)(magnitude + (121u << 23)) - 0.015625f), normal = magnitude + (120u << 23);
  const Words is_small = (Words)(magnitude < (1u << 23));  // all bits or none
  return (Floats)((small & is_small) | (normal & ~is_small) | (word & 0x80u) << 24);
}

__device__ __forceinline__ Bits narrow(Floats values) {
  const Words bits = (Words)values;
  return __builtin_convertvector((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, Bits);
}

extern "C" __global__ void dequantize(const __nv_fp8_e4m3* __restrict__ q, const float* __restrict__ scales,
                                      __nv_bfloat16* __restrict__ y, int blocks) {
  const int first = blockIdx.x * BLOCKS, end = blocks - first < BLOCKS ? blocks : first + BLOCKS;
  for (int i = first; i < end; ++i) {
    const unsigned char* in = (const unsigned char*)q + (size_t)i * 128;
    unsigned short* out = (unsigned short*)y + (size_t)i * 128;
    for (int j = 0; j < 128; j += LANES) *(Bits*)(out + j) = narrow(widen(*(const Bytes*)(in + j)) * scales[i]);
  }
}
