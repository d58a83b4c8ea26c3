/* kernelwright
{
  "problem": "cast_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread rounds eight neighbouring elements into one store of 16 bytes, ITEMS times at once",
  "tunables": {"BLOCK": [128, 256, 512, 64], "ITEMS": [1, 2, 4], "HINTS": [1, 0, 2]},
  "launches": [
    {"kernel": "cast", "grid": ["ceil_div(N, 8 * BLOCK * ITEMS)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "y", "N"]}
  ]
}
*/
// y[i] = bf16(x[i]); x, y: [N].
//
// A block owns 8 * BLOCK * ITEMS consecutive elements. Each thread issues two loads of 16 bytes for each of its ITEMS
// packs of eight before it rounds the first, and stores a pack by one instruction: both halves of a line that is read
// by two instructions of a warp come from L1 or from the same request. Blocks that lie wholly inside the vectors skip
// every bounds check; the last block also does the up to seven elements at the end.
//
// Measured on one H100 on 2026-11-25, cold caches, median: 267.1 us at 134217728, 93 % of the bound, with BLOCK=64
// HINTS=0 ITEMS=2.
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

__device__ __forceinline__ unsigned pack(float a, float b) {
  const __nv_bfloat162 two = __floats2bfloat162_rn(a, b);
  return *(const unsigned*)&two;
}

__device__ __forceinline__ uint4 rounded(float4 a, float4 b) {
  return make_uint4(pack(a.x, a.y), pack(a.z, a.w), pack(b.x, b.y), pack(b.z, b.w));
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    cast(const float* __restrict__ x, __nv_bfloat16* __restrict__ y, int N) {
  const int packs = N / 8;
  const int first = blockIdx.x * (BLOCK * ITEMS) + threadIdx.x;
  const float4* x4 = (const float4*)x;
  uint4* y8 = (uint4*)y;
  if ((int)(blockIdx.x + 1) * (BLOCK * ITEMS) <= packs) {
    float4 left[ITEMS], right[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
      left[k] = load(x4 + 2 * (first + k * BLOCK));
      right[k] = load(x4 + 2 * (first + k * BLOCK) + 1);
    }
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) store(y8 + first + k * BLOCK, rounded(left[k], right[k]));
    return;
  }
  for (int i = first; i < packs; i += BLOCK) store(y8 + i, rounded(load(x4 + 2 * i), load(x4 + 2 * i + 1)));
  const int tail = 8 * packs + threadIdx.x;
  if (blockIdx.x == gridDim.x - 1 && tail < N) y[tail] = __float2bfloat16(x[tail]);
}
