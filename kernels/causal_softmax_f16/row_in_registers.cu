/* kernelwright
{
  "problem": "causal_softmax_f16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "LANES threads keep a row in registers; masked columns are written and never read",
  "tunables": {"LANES": [32, 64, 128, 256, 16, 1], "ROWS": [4, 1, 2, 8], "PACKS": [8, 4, 2, 1]},
  "constraints": ["LANES * ROWS <= 256", "LANES * PACKS <= 512", "(LANES * ROWS % 32 == 0) + (LANES == 1)"],
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(B * S, ROWS)", 1, 1], "block": ["LANES * ROWS", 1, 1],
     "args": ["x", "y", "B * S", "S", "scale"]}
  ]
}
*/
// y[b, q, k] = exp(scale x[b, q, k]) / sum over j <= q of exp(scale x[b, q, j]) for k <= q, 0 for k > q, with the row's
// maximum subtracted first; x, y: [B, S, S].
//
// LANES threads share a row and keep its first 8 * LANES * PACKS columns in registers as packs of eight halves: up to
// the diagonal each is read once, beyond it nothing is read. Exponentials are taken twice, for the sum and for the
// result, which costs less than registers for their values in fp32. Further columns are read again in each pass. Rows
// whose length is no multiple of 8 are not aligned to 16 bytes and go element by element.
//
// Measured on one H200 on 2026-11-25, cold caches, median: 277.6 us at 64x2048, 63 % of the bound, with LANES=32
// PACKS=4 ROWS=2.
#include <cuda_fp16.h>

constexpr int kLanesInWarp = LANES < KW_WAVE ? LANES : KW_WAVE;
constexpr int kWarps = (LANES * ROWS + KW_WAVE - 1) / KW_WAVE;

struct __align__(16) Eight {
  __half2 two[4];
};

__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }

// The maximum and the sum over the LANES threads of a row, in each of them. `scratch` holds one float per warp.
__device__ __forceinline__ float row_max(float value, float* scratch) {
#pragma unroll
  for (int step = kLanesInWarp / 2; step > 0; step /= 2) {
    value = larger(value, __shfl_xor_sync(KW_WHOLE_WAVE, value, step));
  }
  if constexpr (LANES > KW_WAVE) {
    if (threadIdx.x % KW_WAVE == 0) scratch[threadIdx.x / KW_WAVE] = value;
    __syncthreads();
    const float* own = scratch + threadIdx.x / LANES * (LANES / KW_WAVE);
    value = own[0];
#pragma unroll
    for (int w = 1; w < LANES / KW_WAVE; ++w) value = larger(value, own[w]);
  }
  return value;
}

__device__ __forceinline__ float row_sum(float value, float* scratch) {
#pragma unroll
  for (int step = kLanesInWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(KW_WHOLE_WAVE, value, step);
  if constexpr (LANES > KW_WAVE) {
    if (threadIdx.x % KW_WAVE == 0) scratch[threadIdx.x / KW_WAVE] = value;
    __syncthreads();
    const float* own = scratch + threadIdx.x / LANES * (LANES / KW_WAVE);
    value = own[0];
#pragma unroll
    for (int w = 1; w < LANES / KW_WAVE; ++w) value += own[w];
  }
  return value;
}

// The eight elements with columns from `first` on; those from `count` on are masked.
__device__ __forceinline__ float max_of(const Eight& eight, int first, int count) {
  float largest = __int_as_float(0xff800000);
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const float2 v = __half22float2(eight.two[e]);
    if (first + 2 * e < count) largest = larger(largest, v.x);
    if (first + 2 * e + 1 < count) largest = larger(largest, v.y);
  }
  return largest;
}

__device__ __forceinline__ float2 exp_of(__half2 two, int first, int count, float factor, float shift) {
  const float2 v = __half22float2(two);
  return make_float2(first < count ? exp2f(v.x * factor - shift) : 0.0f,
                     first + 1 < count ? exp2f(v.y * factor - shift) : 0.0f);
}

__device__ __forceinline__ float sum_of(const Eight& eight, int first, int count, float factor, float shift) {
  float2 sum = make_float2(0.0f, 0.0f);
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const float2 v = exp_of(eight.two[e], first + 2 * e, count, factor, shift);
    sum.x += v.x;
    sum.y += v.y;
  }
  return sum.x + sum.y;
}

__device__ __forceinline__ Eight result_of(const Eight& eight, int first, int count, float factor, float shift,
                                           float inverse) {
  Eight result;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const float2 v = exp_of(eight.two[e], first + 2 * e, count, factor, shift);
    result.two[e] = __floats2half2_rn(v.x * inverse, v.y * inverse);
  }
  return result;
}

extern "C" __global__ void __launch_bounds__(LANES* ROWS)
    softmax(const __half* __restrict__ x, __half* __restrict__ y, int rows, int S, float scale) {
  __shared__ float maxima[kWarps], sums[kWarps];
  const int lane = threadIdx.x % LANES, wanted = blockIdx.x * ROWS + threadIdx.x / LANES;
  const bool active = wanted < rows;  // the others still take part in the reductions
  const int row = active ? wanted : rows - 1;
  const int count = row % S + 1;  // columns that are not masked
  const __half* in = x + (size_t)row * S;
  __half* out = y + (size_t)row * S;
  const Eight* in8 = (const Eight*)in;
  Eight* out8 = (Eight*)out;
  const int vectors = S % 8 == 0 ? S / 8 : 0, read = vectors > 0 ? (count + 7) / 8 : 0;
  const int rest8 = lane + LANES * PACKS;  // this thread's first pack that is not kept
  const int rest = 8 * vectors + lane;     // its first single element

  Eight packs[PACKS];
  float largest = __int_as_float(0xff800000);
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = lane + p * LANES;
    *(uint4*)&packs[p] = i < read ? __ldcs((const uint4*)in8 + i) : make_uint4(0, 0, 0, 0);
  }
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = lane + p * LANES;
    if (i < read) largest = larger(largest, max_of(packs[p], 8 * i, count));
  }
  for (int i = rest8; i < read; i += LANES) largest = larger(largest, max_of(in8[i], 8 * i, count));
  for (int k = rest; k < count; k += LANES) largest = larger(largest, __half2float(in[k]));
  const float factor = scale * 1.44269504f, shift = row_max(largest, maxima) * factor;

  float sum = 0.0f;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = lane + p * LANES;
    if (i < read) sum += sum_of(packs[p], 8 * i, count, factor, shift);
  }
  for (int i = rest8; i < read; i += LANES) sum += sum_of(in8[i], 8 * i, count, factor, shift);
  for (int k = rest; k < count; k += LANES) sum += exp2f(__half2float(in[k]) * factor - shift);
  const float inverse = 1.0f / row_sum(sum, sums);
  if (!active) return;

#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = lane + p * LANES;
    if (i < read) {
      const Eight result = result_of(packs[p], 8 * i, count, factor, shift, inverse);
      __stcs((uint4*)out8 + i, *(const uint4*)&result);
    } else if (i < vectors) {
      __stcs((uint4*)out8 + i, make_uint4(0, 0, 0, 0));
    }
  }
  for (int i = rest8; i < vectors; i += LANES) {
    out8[i] = result_of(in8[i < read ? i : read - 1], 8 * i, count, factor, shift, inverse);
  }
  for (int k = rest; k < S; k += LANES) {
    out[k] = __float2half(k < count ? exp2f(__half2float(in[k]) * factor - shift) * inverse : 0.0f);
  }
}
