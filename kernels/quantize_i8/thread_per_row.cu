/* kernelwright
{
  "problem": "quantize_i8",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread to a row; maxima of VEC columns side by side, rounding by an addition",
  "tunables": {"VEC": [32, 16, 64], "BLOCK": [1, 8, 32]},
  "launches": [
    {"kernel": "quantize", "grid": ["ceil_div(M, BLOCK)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "q", "scale", "M", "N"]}
  ]
}
*/
// scale[m] = max_n |x[m, n]| / 127, q[m, n] = rint(x[m, n] / scale[m]); x, q: [M, N] row-major, scale: [M].
//
// For processors with vectors, such as the cpu device's. The bits of a bf16 without its sign ascend with its magnitude,
// so the maximum is one of whole numbers. Near 1.5 * 2^23 floats are whole numbers: rounding is an addition, and the
// low byte of the sum is the result. Where 127 / max would overflow, x is divided by the scale.
#include <cuda_bf16.h>

__device__ __forceinline__ float value_of(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
__device__ __forceinline__ int8_t low_byte(float sum) { return (int8_t)__float_as_uint(sum); }

extern "C" __global__ void __launch_bounds__(BLOCK)
    quantize(const __nv_bfloat16* __restrict__ x, int8_t* __restrict__ q, float* __restrict__ scale, int M, int N) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= M) return;
  const unsigned short* __restrict__ in = (const unsigned short*)x + (size_t)row * N;
  int8_t* __restrict__ out = q + (size_t)row * N;
  const int packed = N / VEC * VEC;

  unsigned short most[VEC] = {};
  for (int n = 0; n < packed; n += VEC) {
#pragma unroll
    for (int v = 0; v < VEC; ++v) {
      const unsigned short bits = in[n + v] & 0x7fff;
      most[v] = bits > most[v] ? bits : most[v];
    }
  }
  unsigned short greatest = 0;
#pragma unroll
  for (int v = 0; v < VEC; ++v) greatest = most[v] > greatest ? most[v] : greatest;
  for (int n = packed; n < N; ++n) {
    const unsigned short bits = in[n] & 0x7fff;
    greatest = bits > greatest ? bits : greatest;
  }

  const float magic = 12582912.0f, largest = value_of(greatest), step = largest / 127.0f;
  scale[row] = step;
  if (largest < 1e-30f) {
    for (int n = 0; n < N; ++n) out[n] = largest > 0.0f ? low_byte(value_of(in[n]) / step + magic) : (int8_t)0;
    return;
  }
  const float inverse = 127.0f / largest;
  for (int n = 0; n < packed; n += VEC) {
#pragma unroll
    for (int v = 0; v < VEC; ++v) out[n + v] = low_byte(value_of(in[n + v]) * inverse + magic);
  }
  for (int n = packed; n < N; ++n) out[n] = low_byte(value_of(in[n]) * inverse + magic);
}
