/* kernelwright
{
  "problem": "softmax_long_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "a cluster per row, as large as the row asks, holds it in shared memory; bulk copies bring it",
  "tunables": {"SLICE": [16384, 8192], "BLOCK": [256, 512, 1024], "PARTS": [2, 4, 8]},
  "launches": [
    {"kernel": "softmax",
     "grid": ["M * (1 + (N > SLICE)) * (1 + (N > 2 * SLICE)) * (1 + (N > 4 * SLICE)) * (1 + (N > 8 * SLICE))"],
     "block": ["BLOCK"],
     "cluster": ["(1 + (N > SLICE)) * (1 + (N > 2 * SLICE)) * (1 + (N > 4 * SLICE)) * (1 + (N > 8 * SLICE))"],
     "shared_bytes": "4 * max(min(N + 3, SLICE), ceil_div(N, 64) * 4)",
     "args": ["x", "y", "N"]}
  ]
}
*/
// y[m, n] = exp(x[m, n] - max_m) / sum_k exp(x[m, k] - max_m); x, y: [M, N] row-major.
//
// Each of the 1 to 16 blocks of a cluster holds `slice` columns of a row in shared memory, 64 KB of the longest rows,
// so that three blocks share a multiprocessor: while one waits for its cluster, others read and write. Bulk copies
// bring PARTS pieces, each with a barrier of its own, and the maximum is taken of each as it arrives. A block takes
// exponentials relative to its own maximum and sums them. Then it puts (maximum, sum) into the shared memory of every
// block of the cluster; after one cluster barrier each knows the row's maximum and sum, and one factor corrects what it
// holds. Rows whose length is no multiple of 4 are not aligned to 16 bytes: threads move them element by element.
//
// Measured on one H200 on 2026-11-28, cold caches, median: 166.9 us at 256x262144 and 81.2 us at 256x131072, 70 and 72
// % of the bound; PyTorch takes 264.6 and 136.1.
#include <cooperative_groups.h>
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

namespace cg = cooperative_groups;

constexpr int kWarps = BLOCK / 32, kMostBlocks = 16;

__device__ __forceinline__ float largest_of(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }
__device__ __forceinline__ float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }

// Of all threads of the block; `slots`: one for each warp.
template <typename Combine>
__device__ __forceinline__ float over_block(float value, float* slots, const Combine& combine) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = value;
  __syncthreads();
  value = slots[0];
#pragma unroll 4
  for (int w = 1; w < kWarps; ++w) value = combine(value, slots[w]);
  return value;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    softmax(const float* __restrict__ x, float* __restrict__ y, int N) {
  extern __shared__ __align__(128) float4 held[];
  __shared__ __align__(8) unsigned long long arrivals[PARTS];
  __shared__ float maxima[kWarps], sums[kWarps];
  __shared__ float2 parts[kMostBlocks];  // (maximum, sum) of each block of the row
  cg::cluster_group cluster = cg::this_cluster();
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");  // this block has begun
  const int rank = (int)cluster.block_rank(), blocks = (int)cluster.num_blocks();
  const int slice = (N + 4 * blocks - 1) / (4 * blocks) * 4;
  const int first = rank * slice, count = max(0, min(slice, N - first)), fours = (count + 3) / 4;
  const size_t offset = (size_t)(blockIdx.x / blocks) * N + first;
  const float* in = x + offset;
  float* out = y + offset;
  const bool aligned = N % 4 == 0;
  const int each = (fours + PARTS - 1) / PARTS;  // float4 of a part
  const unsigned memory = kw::shared_address(held), barrier = kw::shared_address(arrivals);

  if (aligned) {
    if (threadIdx.x == 0) {
      for (int p = 0; p < PARTS; ++p) kw::mbarrier::init(barrier + 8 * p, 1);
      kw::mbarrier::fence_init();
      kw::tma::fence();
      for (int p = 0; p < PARTS; ++p) {
        const int bytes = 16 * max(0, min(each, fours - p * each));
        kw::mbarrier::expect(barrier + 8 * p, bytes);
        if (bytes > 0) kw::tma::load_bytes(memory + 16 * p * each, in + 4 * p * each, bytes, barrier + 8 * p);
      }
    }
  } else {
    for (int i = threadIdx.x; i < 4 * fours; i += BLOCK) ((float*)held)[i] = i < count ? __ldcs(in + i) : -INFINITY;
  }
  __syncthreads();

  float largest = -INFINITY;
  for (int p = 0; p < PARTS; ++p) {
    if (aligned) kw::mbarrier::wait(barrier + 8 * p, 0);
    const int end = min(fours, (p + 1) * each);
    for (int i = p * each + threadIdx.x; i < end; i += BLOCK) largest = fmaxf(largest, largest_of(held[i]));
  }
  largest = over_block(largest, maxima, [](float a, float b) { return fmaxf(a, b); });

  const float base = largest > -INFINITY ? largest : 0.0f;  // a block may have no columns
  float sum = 0.0f;
#pragma unroll 4
  for (int i = threadIdx.x; i < fours; i += BLOCK) {  // a thread may have another's place here: all have met
    const float4 v = held[i];
    const float4 e = make_float4(expf(v.x - base), expf(v.y - base), expf(v.z - base), expf(v.w - base));
    sum += sum_of(e);
    held[i] = e;
  }
  sum = over_block(sum, sums, [](float a, float b) { return a + b; });

  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");  // all have begun: their shared memory may be written
  if (threadIdx.x < blocks) cluster.map_shared_rank(parts, threadIdx.x)[rank] = make_float2(largest, sum);
  cluster.sync();
  float top = -INFINITY, total = 0.0f;
  for (int c = 0; c < blocks; ++c) top = fmaxf(top, parts[c].x);
  for (int c = 0; c < blocks; ++c) total += parts[c].y * expf(parts[c].x - top);
  const float factor = expf(base - top) / total;
  if (aligned) {
#pragma unroll 4
    for (int i = threadIdx.x; i < fours; i += BLOCK) {
      const float4 e = held[i];
      __stcs((float4*)out + i, make_float4(e.x * factor, e.y * factor, e.z * factor, e.w * factor));
    }
  } else {
    for (int i = threadIdx.x; i < count; i += BLOCK) out[i] = ((float*)held)[i] * factor;
  }
}
