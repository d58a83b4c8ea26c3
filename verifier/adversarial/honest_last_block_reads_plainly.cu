/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu"],
  "description": "counts blocks behind a fence, and the last one reads their sums with all of its threads",
  "workspace": {"partial": {"bytes": 1024}, "arrived": {"bytes": 4, "zeroed": true}},
  "launches": [
    {"kernel": "sum", "grid": [256, 1, 1], "block": [64, 1, 1], "args": ["x", "partial", "arrived", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of publishing without a fence.
extern "C" __global__ void sum(const float* x, float* partial, unsigned* arrived, float* y, int N) {
  __shared__ float sums[64];
  __shared__ bool last;
  float mine = 0;
  for (size_t i = blockIdx.x * 64 + threadIdx.x; i < N; i += 256 * 64) mine += x[i];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0];
    __threadfence();
    last = atomicAdd(arrived, 1u) == 255;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  sums[threadIdx.x] = partial[threadIdx.x] + partial[threadIdx.x + 64] + partial[threadIdx.x + 128] + partial[threadIdx.x + 192];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = sums[0];
}
