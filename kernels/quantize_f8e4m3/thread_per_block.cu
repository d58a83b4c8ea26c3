/* kernelwright
{
  "problem": "quantize_f8e4m3",
  "backends": ["cpu", "cuda"],
  "description": "a thread to a block of 128 columns; maximum and conversion are integer operations that vectorise",
  "tunables": {"BLOCK": [32, 1, 8, 64], "VEC": [32, 16, 64, 128]},
  "launches": [
    {"kernel": "quantize", "grid": ["ceil_div(M * (N / 128), BLOCK)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "q", "scales", "M * (N / 128)"]}
  ]
}
*/
// scales[i] = max(1e-4, max_j |x[128 i + j]|) / 448, q[128 i + j] = x[128 i + j] / scales[i] for i < blocks; x, q:
// [M, N] row-major, scales: [M, N / 128].
//
// For processors with vectors, such as the cpu device's. The bits of a bf16 without its sign ascend with its magnitude,
// so the maximum is one of whole numbers. A magnitude becomes e4m3 in one of two ways: from 2^-6 on, its exponent gets
// the other bias and its fraction is rounded at bit 20, halves to even; below, adding 2^14 rounds it to multiples of
// 2^-9, which the low bits of the sum count. Both are computed and one is chosen. No quotient exceeds 448 by as much as
// half a step, so nothing saturates.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

__device__ __forceinline__ float value_of(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }

__device__ __forceinline__ unsigned char e4m3_of(float value) {
  const unsigned bits = __float_as_uint(value), magnitude = bits & 0x7fffffffu;
  const unsigned normal = (magnitude - (120u << 23) + 0x7ffffu + (magnitude >> 20 & 1u)) >> 20;
  const unsigned small = __float_as_uint(__uint_as_float(magnitude) + 16384.0f) - 0x46800000u;
  return (unsigned char)((bits >> 24 & 0x80u) | (magnitude < (121u << 23) ? small : normal));
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    quantize(const __nv_bfloat16* __restrict__ x, __nv_fp8_e4m3* __restrict__ q, float* __restrict__ scales,
             int blocks) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= blocks) return;
  const unsigned short* __restrict__ in = (const unsigned short*)x + (size_t)i * 128;
  unsigned char* __restrict__ out = (unsigned char*)q + (size_t)i * 128;
  unsigned short most[VEC] = {};
#pragma unroll
  for (int j = 0; j < 128; j += VEC) {
#pragma unroll
    for (int v = 0; v < VEC; ++v) {
      const unsigned short bits = in[j + v] & 0x7fff;
      most[v] = bits > most[v] ? bits : most[v];
    }
  }
  unsigned short greatest = 0;
#pragma unroll
  for (int v = 0; v < VEC; ++v) greatest = most[v] > greatest ? most[v] : greatest;
  const float largest = fmaxf(1e-4f, value_of(greatest));
  const float factor = 448.0f / largest;
  for (int j = 0; j < 128; ++j) out[j] = e4m3_of(value_of(in[j]) * factor);
  scales[i] = largest / 448.0f;
}
