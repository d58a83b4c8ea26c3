/* kernelwright
{
  "problem": "quantize_f8e4m3",
  "backends": ["cpu", "cuda"],
  "description": "sixteen lanes share a block of 128 columns, PACKS blocks each; all loads are in flight at once",
  "tunables": {"BLOCK": [256, 128, 512], "PACKS": [4, 2, 8, 1]},
  "launches": [
    {"kernel": "quantize", "grid": ["ceil_div(M * (N / 8), BLOCK * PACKS)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "q", "scales", "M * (N / 8)"]}
  ]
}
*/
// scales[i] = max(1e-4, max_j |x[128 i + j]|) / 448, q[128 i + j] = x[128 i + j] / scales[i]; x, q: [M, N] row-major,
// scales: [M, N / 128].
//
// Rows are whole blocks, so the matrix is one sequence of `packs` vectors of eight columns. Lane l of sixteen has
// vector l of a block: they find its largest magnitude by four shuffles, and each multiplies its own vector by 448 /
// largest and converts it in pairs. A thread works on PACKS blocks, BLOCK vectors apart, which it loads before the
// first shuffle.
//
// Measured on one H200 on 2026-11-25, cold caches, median: 98.5 us at 16384x7168, 78 % of the bound, with BLOCK=512
// PACKS=1.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

__device__ __forceinline__ float lower(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ __forceinline__ float upper(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }
__device__ __forceinline__ float largest_of(unsigned pair) { return fmaxf(fabsf(lower(pair)), fabsf(upper(pair))); }
__device__ __forceinline__ float largest_of(uint4 pack) {
  return fmaxf(fmaxf(largest_of(pack.x), largest_of(pack.y)), fmaxf(largest_of(pack.z), largest_of(pack.w)));
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
  uint2* __restrict__ out = (uint2*)q;
  const int first = blockIdx.x * (BLOCK * PACKS) + threadIdx.x;
  uint4 loaded[PACKS];
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = first + p * BLOCK;
    loaded[p] = i < packs ? __ldcs(in + i) : make_uint4(0u, 0u, 0u, 0u);
  }
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    float largest = fmaxf(1e-4f, largest_of(loaded[p]));
#pragma unroll
    for (int step = 8; step > 0; step /= 2) {
      largest = fmaxf(largest, __shfl_xor_sync(KW_WHOLE_WAVE, largest, step));
    }
    const int i = first + p * BLOCK;
    if (i < packs) {
      const float factor = 448.0f / largest;
      __stcs(out + i,
             make_uint2(converted(loaded[p].x, loaded[p].y, factor), converted(loaded[p].z, loaded[p].w, factor)));
      if (i % 16 == 0) scales[i / 16] = largest / 448.0f;
    }
  }
}
