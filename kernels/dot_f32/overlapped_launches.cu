/* kernelwright
{
  "problem": "dot_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "at most BLOCKS partial sums; the one block that adds them is launched early and waits",
  "tunables": {"BLOCK": [512, 256, 1024], "BLOCKS": [528, 2048, 1056, 4096], "LOADS": [2, 4, 8]},
  "workspace": {"partial": {"bytes": "4 * BLOCKS"}},
  "launches": [
    {"kernel": "partial_dots", "grid": ["min(BLOCKS, ceil_div(N, 8 * BLOCK * LOADS))", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["a", "b", "partial", "N"]},
    {"kernel": "total", "grid": [1, 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["partial", "y", "min(BLOCKS, ceil_div(N, 8 * BLOCK * LOADS))"],
     "overlaps_previous": true}
  ]
}
*/
// y[0] = sum_i a[i] * b[i]; a, b: [N], partial: [BLOCKS].
//
// In each step a thread loads LOADS packs of eight numbers of both vectors, BLOCK packs apart so that a warp reads
// whole lines, before it multiplies any of them. Products of fp16 numbers are exact in fp32; each place of a pack has
// a sum of its own. A block meets in shuffles and once in shared memory. The second launch adds the partial sums in
// the same way; nothing depends on the order in which blocks end, so the result is the same in every run. Its one
// block is launched while the first launch still runs (a programmatic dependent launch) and waits there for the
// partial sums, so that no launch stands between the two.
//
// Measured on one H200 on 2026-11-25, cold caches, median: 253.8 us at 268435456, 92 % of the bound, with BLOCK=512
// BLOCKS=4096 LOADS=8.
#include <cuda_fp16.h>

constexpr int kWarps = BLOCK / 32;

union Pack {
  uint4 bits;
  __half value[8];
};

__device__ __forceinline__ void add_products(float (&sums)[8], const Pack& a, const Pack& b) {
#pragma unroll
  for (int v = 0; v < 8; ++v) sums[v] += __half2float(a.value[v]) * __half2float(b.value[v]);
}

// The sum over the block, in thread 0.
__device__ __forceinline__ float block_sum(float sum) {
  __shared__ float warp_sums[kWarps];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
#pragma unroll
    for (int w = 1; w < kWarps; ++w) sum += warp_sums[w];
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    partial_dots(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ partial, int N) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  const uint4* __restrict__ a8 = (const uint4*)a;
  const uint4* __restrict__ b8 = (const uint4*)b;
  const int packs = N / 8;
  float sums[8] = {};
  int i = blockIdx.x * (BLOCK * LOADS) + threadIdx.x;
  for (; i + (LOADS - 1) * BLOCK < packs; i += gridDim.x * (BLOCK * LOADS)) {
    Pack left[LOADS], right[LOADS];
#pragma unroll
    for (int l = 0; l < LOADS; ++l) {
      left[l].bits = __ldcs(a8 + i + l * BLOCK);
      right[l].bits = __ldcs(b8 + i + l * BLOCK);
    }
#pragma unroll
    for (int l = 0; l < LOADS; ++l) add_products(sums, left[l], right[l]);
  }
#pragma unroll 1
  for (int l = 0; l < LOADS && i < packs; ++l, i += BLOCK) {  // what is left of the last step
    Pack left, right;
    left.bits = a8[i];
    right.bits = b8[i];
    add_products(sums, left, right);
  }
  float sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  const int tail = 8 * packs + threadIdx.x;
  if (blockIdx.x == 0 && tail < N) sum += __half2float(a[tail]) * __half2float(b[tail]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK) total(const float* partial, float* __restrict__ y, int blocks) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  float sum = 0.0f;
  for (int i = threadIdx.x; i < blocks; i += BLOCK) sum += __ldcg(partial + i);
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[0] = sum;
}
