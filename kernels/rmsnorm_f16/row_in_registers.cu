/* kernelwright
{
  "problem": "rmsnorm_f16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a block per row, which stays in registers between the sum and the products; eight halves per load",
  "tunables": {"BLOCK": [256, 512, 128, 1024], "PACKS": [4, 2, 8, 1], "HINTS": [1, 0, 2]},
  "constraints": ["BLOCK * PACKS >= 512", "BLOCK * PACKS <= 4096"],
  "launches": [
    {"kernel": "rmsnorm", "grid": ["M", 1, 1], "block": ["BLOCK", 1, 1], "args": ["x", "w", "y", "N"]}
  ]
}
*/
// y[m, n] = x[m, n] * rsqrt(sum_k x[m, k]^2 / N + 1e-5) * w[n]; x, y: [M, N] row-major, w: [N].
//
// A block takes one row. Each thread issues the loads of PACKS packs of eight halves at once and keeps them packed
// until the sum of squares is known, so every element is read once; the weights are on their way while the block adds
// up. Columns beyond the first 8 * BLOCK * PACKS are read again. Rows whose length is no multiple of 8 are not aligned
// to 16 bytes and go element by element.
//
// Measured on one H100 on 2026-11-25, cold caches, median: 92.4 us at 8192x8192, 90 % of the bound, with BLOCK=128
// HINTS=0 PACKS=8.
#include <cuda_fp16.h>

constexpr int kWarps = BLOCK / KW_WAVE;

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

__device__ __forceinline__ float2 floats(unsigned two) { return __half22float2(*(const __half2*)&two); }

__device__ __forceinline__ float squares(unsigned two) {
  const float2 v = floats(two);
  return v.x * v.x + v.y * v.y;
}
__device__ __forceinline__ float squares(uint4 v) {
  return (squares(v.x) + squares(v.y)) + (squares(v.z) + squares(v.w));
}

__device__ __forceinline__ unsigned scaled(unsigned two, float scale, unsigned weight) {
  const float2 v = floats(two), w = floats(weight);
  const __half2 result = __floats2half2_rn(v.x * scale * w.x, v.y * scale * w.y);
  return *(const unsigned*)&result;
}
__device__ __forceinline__ uint4 scaled(uint4 v, float scale, uint4 w) {
  return make_uint4(scaled(v.x, scale, w.x), scaled(v.y, scale, w.y), scaled(v.z, scale, w.z), scaled(v.w, scale, w.w));
}

__device__ __forceinline__ float block_sum(float value, float* scratch) {
#pragma unroll
  for (int step = KW_WAVE / 2; step > 0; step /= 2) value += __shfl_xor_sync(KW_WHOLE_WAVE, value, step);
  if (threadIdx.x % KW_WAVE == 0) scratch[threadIdx.x / KW_WAVE] = value;
  __syncthreads();
  value = scratch[0];
#pragma unroll
  for (int w = 1; w < kWarps; ++w) value += scratch[w];
  return value;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    rmsnorm(const __half* __restrict__ x, const __half* __restrict__ w, __half* __restrict__ y, int N) {
  __shared__ float scratch[kWarps];
  const size_t start = (size_t)blockIdx.x * N;
  const uint4* x8 = (const uint4*)(x + start);
  const uint4* w8 = (const uint4*)w;
  uint4* y8 = (uint4*)(y + start);
  const int vectors = N % 8 == 0 ? N / 8 : 0;
  const int rest8 = threadIdx.x + BLOCK * PACKS;  // this thread's first pack that is not kept
  const int rest = 8 * vectors + threadIdx.x;     // its first single element

  uint4 packs[PACKS], weights[PACKS];
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = threadIdx.x + p * BLOCK;
    packs[p] = i < vectors ? load(x8 + i) : make_uint4(0, 0, 0, 0);
  }
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = threadIdx.x + p * BLOCK;
    weights[p] = i < vectors ? __ldg(w8 + i) : make_uint4(0, 0, 0, 0);
  }
  float sum = 0.0f;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) sum += squares(packs[p]);
  for (int i = rest8; i < vectors; i += BLOCK) sum += squares(x8[i]);
  for (int n = rest; n < N; n += BLOCK) {
    const float value = __half2float(x[start + n]);
    sum += value * value;
  }
  const float scale = rsqrtf(block_sum(sum, scratch) / N + 1e-5f);

#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = threadIdx.x + p * BLOCK;
    if (i < vectors) store(y8 + i, scaled(packs[p], scale, weights[p]));
  }
  for (int i = rest8; i < vectors; i += BLOCK) y8[i] = scaled(x8[i], scale, w8[i]);
  for (int n = rest; n < N; n += BLOCK) {
    y[start + n] = __float2half(__half2float(x[start + n]) * scale * __half2float(w[n]));
  }
}
