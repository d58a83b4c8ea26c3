/* kernelwright
{
  "problem": "gelu_backward_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "eight elements per load, ITEMS loads of dy and of x in flight per thread",
  "tunables": {"BLOCK": [128, 256, 64, 512, 32], "ITEMS": [1, 2, 4, 8], "HINTS": [1, 0, 2]},
  "launches": [
    {"kernel": "gelu_backward", "grid": ["ceil_div(N, 8 * BLOCK * ITEMS)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["dy", "x", "dx", "N"]}
  ]
}
*/
// dx[i] = dy[i] * (s + x[i] s (1 - s) v'), s = 1 / (1 + exp(-v)), v = 2 sqrt(2 / pi) (x[i] + 0.044715 x[i]^3), so that
// x s is the tanh form of GELU; dy, x, dx: [N].
//
// A block owns 8 * BLOCK * ITEMS consecutive elements. Each thread first issues all its loads of 16 bytes, then
// computes and stores; HINTS sets which lines the caches drop first. One exponential and one division give s, and 1 -
// s is exp(-v) s without cancellation, or 1 where the exponential overflows. Blocks that lie wholly inside the vectors
// skip every bounds check; the last block also does the up to seven elements at the end.
//
// Measured on one H100 on 2026-11-25, cold caches, median: 231.8 us at 117440512, 94 % of the bound, with BLOCK=128
// HINTS=0 ITEMS=1.
#include <cuda_bf16.h>

// HINTS marks as used once: 0 nothing, 1 loads, 2 loads and stores. Lines of unmarked stores outlive the launch in L2.
template <class V>
__device__ __forceinline__ V load(const V* from) {
  return HINTS > 0 ? __ldcs(from) : __ldg(from);
}
template <class V>
__device__ __forceinline__ void store(V* to, V value) {
  if constexpr (HINTS > 1) {
    __stcs(to, value);
  } else {
    *to = value;
  }
}

__device__ __forceinline__ float low(unsigned two) { return __uint_as_float(two << 16); }
__device__ __forceinline__ float high(unsigned two) { return __uint_as_float(two & 0xffff0000u); }

__device__ __forceinline__ float gradient(float dy, float x) {
  const float square = x * x;
  const float e = __expf(-x * (1.59576912f + 0.0713548163f * square)), s = 1.0f / (1.0f + e);
  const float rest = e > 1e38f ? 1.0f : e * s;
  return dy * (s + x * s * rest * (1.59576912f + 0.214064449f * square));
}

__device__ __forceinline__ unsigned gradient(unsigned dy, unsigned x) {
  const __nv_bfloat162 two = __floats2bfloat162_rn(gradient(low(dy), low(x)), gradient(high(dy), high(x)));
  return *(const unsigned*)&two;
}

__device__ __forceinline__ uint4 gradient(uint4 dy, uint4 x) {
  return make_uint4(gradient(dy.x, x.x), gradient(dy.y, x.y), gradient(dy.z, x.z), gradient(dy.w, x.w));
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    gelu_backward(const __nv_bfloat16* __restrict__ dy, const __nv_bfloat16* __restrict__ x,
                  __nv_bfloat16* __restrict__ dx, int N) {
  const int vectors = N / 8;
  const int first = blockIdx.x * (BLOCK * ITEMS) + threadIdx.x;
  const uint4* dy8 = (const uint4*)dy;
  const uint4* x8 = (const uint4*)x;
  uint4* dx8 = (uint4*)dx;
  if ((int)(blockIdx.x + 1) * (BLOCK * ITEMS) <= vectors) {
    uint4 a[ITEMS], b[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
      a[k] = load(dy8 + first + k * BLOCK);
      b[k] = load(x8 + first + k * BLOCK);
    }
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) store(dx8 + first + k * BLOCK, gradient(a[k], b[k]));
    return;
  }
  for (int i = first; i < vectors; i += BLOCK) store(dx8 + i, gradient(load(dy8 + i), load(x8 + i)));
  const int tail = 8 * vectors + threadIdx.x;
  if (blockIdx.x == gridDim.x - 1 && tail < N) {
    dx[tail] = __float2bfloat16(gradient(__bfloat162float(dy[tail]), __bfloat162float(x[tail])));
  }
}
