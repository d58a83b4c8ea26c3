/* kernelwright
{
  "problem": "add_rmsnorm_bf16",
  "backends": ["cpu"],
  "description": "a thread for each row, vectors of LANES elements",
  "tunables": {"ROWS": [1, 8, 32, 64], "LANES": [16, 8, 32]},
  "launches": [
    {"kernel": "add_rmsnorm", "grid": ["ceil_div(M, ROWS)"], "block": ["ROWS"],
     "args": ["x", "residual", "w", "r", "y", "M", "N", "eps"]}
  ]
}
*/
// r = x + residual; y[m, n] = r[m, n] * rsqrt(sum_k r[m, k]^2 / N + eps) * w[n]; x, residual, r, y: [M, N], w: [N].
//
// For the cpu device, whose compiler forms vector instructions only of vectors that are written as such. A bf16 is the
// upper half of a float: widening is a shift, and rounding to nearest even is an integer addition. Inputs are finite,
// hence NaN needs no case of its own.
#include <cuda_bf16.h>

typedef unsigned short Bits __attribute__((vector_size(2 * LANES), aligned(2)));
typedef unsigned Words __attribute__((vector_size(4 * LANES)));
typedef float Floats __attribute__((vector_size(4 * LANES)));

__device__ __forceinline__ Floats widen(Bits bits) { return (Floats)(__builtin_convertvector(bits, Words) << 16); }

__device__ __forceinline__ Bits narrow(Floats values) {
  const Words bits = (Words)values;
  return __builtin_convertvector((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, Bits);
}

extern "C" __global__ void add_rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
                                       const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ r,
                                       __nv_bfloat16* __restrict__ y, int M, int N, float eps) {
  const int row = blockIdx.x * ROWS + threadIdx.x;
  if (row >= M) return;
  x += (size_t)row * N;
  residual += (size_t)row * N;
  r += (size_t)row * N;
  y += (size_t)row * N;
  Floats sums = {};
  int n = 0;
  for (; n + LANES <= N; n += LANES) {
    const Bits both = narrow(widen(*(const Bits*)(x + n)) + widen(*(const Bits*)(residual + n)));
    *(Bits*)(r + n) = both;
    sums += widen(both) * widen(both);
  }
  float sum = 0.0f;
  for (; n < N; ++n) {
    r[n] = __float2bfloat16(__bfloat162float(x[n]) + __bfloat162float(residual[n]));
    sum += __bfloat162float(r[n]) * __bfloat162float(r[n]);
  }
  for (int s = 0; s < LANES; ++s) sum += sums[s];
  const float scale = rsqrtf(sum / N + eps);
  for (n = 0; n + LANES <= N; n += LANES) {
    *(Bits*)(y + n) = narrow(widen(*(const Bits*)(r + n)) * scale * widen(*(const Bits*)(w + n)));
  }
  for (; n < N; ++n) y[n] = __float2bfloat16(__bfloat162float(r[n]) * scale * __bfloat162float(w[n]));
}
