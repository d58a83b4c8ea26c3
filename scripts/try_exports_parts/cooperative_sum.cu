/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "a cooperative launch: partial sums, the barrier of the grid, and the first block adds them",
  "tunables": {"BLOCK": [512, 256], "BLOCKS": [264, 132]},
  "workspace": {"partial": {"bytes": "4 * BLOCKS"}, "arrived": {"bytes": 4, "zeroed": true}},
  "launches": [
    {"kernel": "sum", "grid": ["BLOCKS", 1, 1], "block": ["BLOCK", 1, 1], "shared_bytes": "4 * BLOCK", "cooperative": true,
     "args": ["x", "partial", "arrived", "y", "N"]}
  ]
}
*/
// y[0] = sum_i x[i]; x: [N]. Has what exports must carry: a cooperative launch, dynamic shared memory, a workspace that is
// cleared and one that is not.
#include <cooperative_groups.h>

__device__ float block_sum(float mine, float* room) {
  room[threadIdx.x] = mine;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) room[threadIdx.x] += room[threadIdx.x + half];
    __syncthreads();
  }
  return room[0];
}

extern "C" __global__ void sum(const float* x, float* partial, int* arrived, float* y, int N) {
  extern __shared__ float room[];
  const float4* x4 = (const float4*)x;
  float mine = 0;
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N / 4; i += BLOCKS * BLOCK) {
    const float4 four = x4[i];
    mine += (four.x + four.y) + (four.z + four.w);
  }
  if (blockIdx.x == 0 && threadIdx.x < N % 4) mine += x[N / 4 * 4 + threadIdx.x];
  const float all = block_sum(mine, room);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = all;
    atomicAdd(arrived, 1);
  }
  cooperative_groups::this_grid().sync();
  if (blockIdx.x != 0) return;
  float rest = 0;
  if (*(volatile int*)arrived == BLOCKS) {
    for (int i = threadIdx.x; i < BLOCKS; i += BLOCK) rest += partial[i];
  }
  rest = block_sum(rest, room);
  if (threadIdx.x == 0) y[0] = rest;
}
