/* kernelwright
{
  "problem": "quantize_f8e4m3",
  "backends": ["cpu", "cuda"],
  "description": "eight lanes share a block of 128 columns; maxima of packed pairs, one store of 16 bytes per lane",
  "tunables": {"BLOCK": [128, 256, 512, 64], "PACKS": [1, 2, 4], "HINTS": [1, 0, 2]},
  "launches": [
    {"kernel": "quantize", "grid": ["ceil_div(M * (N / 16), BLOCK * PACKS)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "q", "scales", "M * (N / 16)"]}
  ]
}
*/
// scales[i] = max(1e-4, max_j |x[128 i + j]|) / 448, q[128 i + j] = x[128 i + j] / scales[i]; x, q: [M, N] row-major,
// scales: [M, N / 128].
//
// Rows are whole blocks, so the matrix is one sequence of `packs` packs of sixteen columns. Lane l of eight has pack l
// of a block, in two loads of 16 bytes. It takes maxima of magnitudes in bf16, two at a time, and keeps the pair
// through three shuffles; then it multiplies its pack by 448 / largest and converts it in pairs. A thread works on
// PACKS blocks, BLOCK packs apart, which it loads before the first shuffle.
//
// Measured on one H100 on 2026-11-25, cold caches, median: 124.6 us at 16384x7168, 88 % of the bound, with BLOCK=128
// HINTS=1 PACKS=2.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

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

__device__ __forceinline__ float lower(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ __forceinline__ float upper(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

// The larger of each half; both operands are magnitudes.
__device__ __forceinline__ unsigned larger(unsigned a, unsigned b) {
  const __nv_bfloat162 two = __hmax2(*(const __nv_bfloat162*)&a, *(const __nv_bfloat162*)&b);
  return *(const unsigned*)&two;
}

__device__ __forceinline__ unsigned largest_of(uint4 pack) {
  constexpr unsigned kMagnitudes = 0x7fff7fffu;
  return larger(larger(pack.x & kMagnitudes, pack.y & kMagnitudes), larger(pack.z & kMagnitudes, pack.w & kMagnitudes));
}

// Four numbers of e4m3: the pairs a and b, times `factor`.
__device__ __forceinline__ unsigned converted(unsigned a, unsigned b, float factor) {
  const unsigned low =
      __nv_cvt_float2_to_fp8x2(make_float2(lower(a) * factor, upper(a) * factor), __NV_SATFINITE, __NV_E4M3);
  const unsigned high =
      __nv_cvt_float2_to_fp8x2(make_float2(lower(b) * factor, upper(b) * factor), __NV_SATFINITE, __NV_E4M3);
  return low | high << 16;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    quantize(const __nv_bfloat16* __restrict__ x, __nv_fp8_e4m3* __restrict__ q, float* __restrict__ scales,
             int packs) {
  const uint4* __restrict__ in = (const uint4*)x;
  uint4* __restrict__ out = (uint4*)q;
  const int first = blockIdx.x * (BLOCK * PACKS) + threadIdx.x;
  uint4 front[PACKS], back[PACKS];
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = first + p * BLOCK;
    front[p] = back[p] = make_uint4(0u, 0u, 0u, 0u);
    if (i < packs) {
      front[p] = load(in + 2 * (size_t)i);
      back[p] = load(in + 2 * (size_t)i + 1);
    }
  }
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    unsigned most = larger(largest_of(front[p]), largest_of(back[p]));
#pragma unroll
    for (int step = 4; step > 0; step /= 2) most = larger(most, __shfl_xor_sync(KW_WHOLE_WAVE, most, step));
    const float largest = fmaxf(1e-4f, fmaxf(lower(most), upper(most)));
    const int i = first + p * BLOCK;
    if (i < packs) {
      const float factor = 448.0f / largest;
      store(out + i, make_uint4(converted(front[p].x, front[p].y, factor), converted(front[p].z, front[p].w, factor),
                                converted(back[p].x, back[p].y, factor), converted(back[p].z, back[p].w, factor)));
      if (i % 8 == 0) scales[i / 8] = largest / 448.0f;
    }
  }
}
