/* kernelwright
{
  "problem": "softmax_long_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "a cluster of blocks per row, which stays in their registers; maxima and sums are exchanged",
  "tunables": {"CLUSTER": [8, 16, 4], "BLOCK": [512, 256, 1024], "PACKS": [8, 4]},
  "constraints": ["BLOCK * PACKS <= 8192", "CLUSTER * BLOCK * PACKS <= 65536", "CLUSTER * BLOCK * PACKS >= 32768"],
  "launches": [
    {"kernel": "softmax", "grid": ["M * CLUSTER", 1, 1], "block": ["BLOCK", 1, 1], "cluster": ["CLUSTER", 1, 1],
     "args": ["x", "y", "N"]}
  ]
}
*/
// y[m, n] = exp(x[m, n] - max_m) / sum_k exp(x[m, k] - max_m); x, y: [M, N] row-major.
//
// The CLUSTER blocks of a row read it once: each thread keeps PACKS float4 in registers. Columns beyond 4 * CLUSTER *
// BLOCK * PACKS are read again. A block takes exponentials relative to its own maximum and sums them. Then it puts
// (maximum, sum) into the shared memory of every block of the cluster; after one cluster barrier each block knows the
// row's maximum and sum, and one factor corrects what it has in registers. Rows whose length is no multiple of 4 are
// not aligned to float4 and are moved one element at a time. Packs outside the row hold minus infinity, whose
// exponential is 0.
//
// Measured on one H200 on 2026-11-25, cold caches, median: 250.0 us at 256x262144, 48 % of the bound, with BLOCK=512
// CLUSTER=8 PACKS=8.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int kWarps = BLOCK / 32;
constexpr int kTile = 4 * CLUSTER * BLOCK * PACKS;

__device__ __forceinline__ float4 load(const float* __restrict__ row, int n, int N) {
  if (N % 4 == 0) {
    return n < N ? __ldcs((const float4*)(row + n)) : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
  }
  return make_float4(n < N ? row[n] : -INFINITY, n + 1 < N ? row[n + 1] : -INFINITY, n + 2 < N ? row[n + 2] : -INFINITY,
                     n + 3 < N ? row[n + 3] : -INFINITY);
}

__device__ __forceinline__ void store(float* __restrict__ row, int n, int N, float4 v) {
  if (N % 4 == 0) {
    if (n < N) __stcs((float4*)(row + n), v);
    return;
  }
  if (n < N) row[n] = v.x;
  if (n + 1 < N) row[n + 1] = v.y;
  if (n + 2 < N) row[n + 2] = v.z;
  if (n + 3 < N) row[n + 3] = v.w;
}

__device__ __forceinline__ float largest_of(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }
__device__ __forceinline__ float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ __forceinline__ float4 exp_of(float4 v, float base) {
  return make_float4(expf(v.x - base), expf(v.y - base), expf(v.z - base), expf(v.w - base));
}
__device__ __forceinline__ float4 scaled(float4 v, float factor) {
  return make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    softmax(const float* __restrict__ x, float* __restrict__ y, int N) {
  __shared__ float maxima[kWarps], sums[kWarps];
  __shared__ float2 parts[CLUSTER];  // (maximum, sum) of each block of the row
  cg::cluster_group cluster = cg::this_cluster();
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");  // this block has begun
  const int rank = (int)cluster.block_rank(), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const size_t offset = (size_t)(blockIdx.x / CLUSTER) * N;
  const float* in = x + offset;
  float* out = y + offset;
  const int first = 4 * (rank * BLOCK + (int)threadIdx.x);
  constexpr int kStride = 4 * CLUSTER * BLOCK;  // from pack to pack, so that short rows occupy all blocks

  float4 packs[PACKS];
#pragma unroll
  for (int p = 0; p < PACKS; ++p) packs[p] = load(in, first + p * kStride, N);
  float largest = -INFINITY;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) largest = fmaxf(largest, largest_of(packs[p]));
  for (int n = first + kTile; n < N; n += kStride) largest = fmaxf(largest, largest_of(load(in, n, N)));
#pragma unroll
  for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
  if (lane == 0) maxima[warp] = largest;
  __syncthreads();
#pragma unroll 4
  for (int w = 0; w < kWarps; ++w) largest = fmaxf(largest, maxima[w]);

  const float base = largest > -INFINITY ? largest : 0.0f;  // a block may have no columns
  float sum = 0.0f;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    packs[p] = exp_of(packs[p], base);
    sum += sum_of(packs[p]);
  }
  for (int n = first + kTile; n < N; n += kStride) sum += sum_of(exp_of(load(in, n, N), base));
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  sum = 0.0f;
#pragma unroll 4
  for (int w = 0; w < kWarps; ++w) sum += sums[w];

  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");  // all have: their shared memory may be written
  if (threadIdx.x < CLUSTER) cluster.map_shared_rank(parts, threadIdx.x)[rank] = make_float2(largest, sum);
  cluster.sync();
  float top = -INFINITY, total = 0.0f;
#pragma unroll 4
  for (int c = 0; c < CLUSTER; ++c) top = fmaxf(top, parts[c].x);
#pragma unroll 4
  for (int c = 0; c < CLUSTER; ++c) total += parts[c].y * expf(parts[c].x - top);
  const float inverse = 1.0f / total, factor = expf(base - top) * inverse;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) store(out, first + p * kStride, N, scaled(packs[p], factor));
  for (int n = first + kTile; n < N; n += kStride) store(out, n, N, scaled(exp_of(load(in, n, N), top), inverse));
}
