/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "at most BLOCKS partial sums by a grid-stride loop over float4, then one block",
  "tunables": {"BLOCK": [1024, 256, 32, 64, 128, 512], "BLOCKS": [528, 1056, 264, 132, 64, 16, 4], "VEC": [8, 16, 4]},
  "workspace": {"partial": {"bytes": "4 * BLOCKS"}},
  "launches": [
    {"kernel": "partial_sums", "grid": ["min(BLOCKS, ceil_div(N, BLOCK * VEC))", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "partial", "N"]},
    {"kernel": "total", "grid": [1, 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["partial", "y", "min(BLOCKS, ceil_div(N, BLOCK * VEC))"]}
  ]
}
*/
// y[0] = sum_i x[i]; x: [N], partial: [BLOCKS].
//
// At most BLOCKS blocks stride over x; a short x has fewer. In each step a thread adds VEC / 4 float4, BLOCK of them
// apart so that a warp reads whole lines, into VEC independent sums: that many loads are in flight. A block meets in
// shuffles and once in shared memory. The second launch adds the partial sums in the same way; nothing depends on the
// order in which blocks end, so the result is the same in every run.
//
// Measured on one H200, N = 64 Mi, cold L2, median of 9, 2026-11-21: 73.4 us, 3.66 TB/s at the default point.
constexpr int kPacks = VEC / 4;
constexpr int kLanesInWarp = BLOCK < KW_WAVE ? BLOCK : KW_WAVE;
constexpr int kWarps = (BLOCK + KW_WAVE - 1) / KW_WAVE;

// The sum over the block, in thread 0.
__device__ __forceinline__ float block_sum(float sum) {
  __shared__ float warp_sums[kWarps];
#pragma unroll
  for (int step = kLanesInWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(KW_WHOLE_WAVE, sum, step);
  if constexpr (kWarps > 1) {
    if (threadIdx.x % KW_WAVE == 0) warp_sums[threadIdx.x / KW_WAVE] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll
      for (int w = 1; w < kWarps; ++w) sum += warp_sums[w];
    }
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    partial_sums(const float* __restrict__ x, float* __restrict__ partial, int N) {
  const float4* x4 = (const float4*)x;
  const int vectors = N / 4;
  float sums[VEC] = {};
  int base = blockIdx.x * (BLOCK * kPacks) + threadIdx.x;
  for (; base + (kPacks - 1) * BLOCK < vectors; base += gridDim.x * BLOCK * kPacks) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const float4 four = x4[base + p * BLOCK];
      sums[4 * p] += four.x;
      sums[4 * p + 1] += four.y;
      sums[4 * p + 2] += four.z;
      sums[4 * p + 3] += four.w;
    }
  }
  float sum = 0.0f;
#pragma unroll 1
  for (; base < vectors; base += BLOCK) {  // at most kPacks - 1 vectors of the last step
    const float4 four = x4[base];
    sum += four.x + four.y + four.z + four.w;
  }
  const int tail = 4 * vectors + threadIdx.x;
  if (blockIdx.x == 0 && tail < N) sum += x[tail];
#pragma unroll
  for (int v = 0; v < VEC; ++v) sum += sums[v];
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK) total(const float* __restrict__ partial, float* __restrict__ y, int blocks) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < blocks; i += BLOCK) sum += partial[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[0] = sum;
}
