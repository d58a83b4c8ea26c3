/* kernelwright
{
  "problem": "silu_mul_bf16",
  "backends": ["cpu"],
  "description": "a thread for each row, vectors of LANES elements and an exponential of its own",
  "tunables": {"ROWS": [1, 8, 32], "LANES": [16, 8, 32]},
  "launches": [
    {"kernel": "silu_mul", "grid": ["ceil_div(M, ROWS)"], "block": ["ROWS"], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// y[m, n] = g / (1 + exp(-g)) * u, g = x[m, n], u = x[m, N + n]; x: [M, 2 N], y: [M, N].
//
// For the cpu device, whose compiler forms vector instructions only of vectors that are written as such. A bf16 is the
// upper half of a float: widening is a shift, and rounding to nearest even is an integer addition. exp(t) is 2^i times
// a polynomial of degree 6 in the rest; 2^i is applied in two factors, so that exp overflows and underflows where it
// should.
#include <cuda_bf16.h>

typedef unsigned short Bits __attribute__((vector_size(2 * LANES), aligned(2)));
typedef unsigned Words __attribute__((vector_size(4 * LANES)));
typedef int Ints __attribute__((vector_size(4 * LANES)));
typedef float Floats __attribute__((vector_size(4 * LANES)));

__device__ __forceinline__ Floats widen(Bits bits) { return (Floats)(__builtin_convertvector(bits, Words) << 16); }

__device__ __forceinline__ Bits narrow(Floats values) {
  const Words bits = (Words)values;
  return __builtin_convertvector((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, Bits);
}

__device__ __forceinline__ Floats exponential(Floats t) {
  t = t * 1.44269504f;
  t = t < -150.0f ? Floats{} - 150.0f : t;
  t = t > 130.0f ? Floats{} + 130.0f : t;
  const Ints whole = __builtin_convertvector(t + (t < 0.0f ? Floats{} - 0.5f : Floats{} + 0.5f), Ints);
  const Floats f = t - __builtin_convertvector(whole, Floats);
  Floats p = f * 1.5403530e-4f + 1.3333558e-3f;
  p = p * f + 9.6181291e-3f;
  p = p * f + 5.5504109e-2f;
  p = p * f + 2.4022651e-1f;
  p = p * f + 6.9314718e-1f;
  p = p * f + 1.0f;
  const Ints half = whole >> 1;
  return p * (Floats)((half + 127) << 23) * (Floats)((whole - half + 127) << 23);
}

extern "C" __global__ void silu_mul(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, int M, int N) {
  const int row = blockIdx.x * ROWS + threadIdx.x;
  if (row >= M) return;
  const __nv_bfloat16* gate = x + (size_t)row * 2 * N;
  const __nv_bfloat16* up = gate + N;
  __nv_bfloat16* out = y + (size_t)row * N;
  int n = 0;
  for (; n + LANES <= N; n += LANES) {
    const Floats g = widen(*(const Bits*)(gate + n));
    *(Bits*)(out + n) = narrow(g / (1.0f + exponential(-g)) * widen(*(const Bits*)(up + n)));
  }
  for (; n < N; ++n) {
    const float g = __bfloat162float(gate[n]);
    out[n] = __float2bfloat16(g / (1.0f + expf(-g)) * __bfloat162float(up[n]));
  }
}
