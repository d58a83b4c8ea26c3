/* kernelwright
{
  "problem": "histogram_i32",
  "backends": ["cpu"],
  "description": "blocks add their counts with the scope of a block",
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [256, 1, 1], "args": ["y"]},
    {"kernel": "histogram", "grid": ["ceil_div(N, 4096)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: race.
extern "C" __global__ void clear(int* y) { y[threadIdx.x] = 0; }

extern "C" __global__ void histogram(const int* x, int* y, int N) {
  __shared__ int counts[256];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 4096 + threadIdx.x; i < N && i < (blockIdx.x + 1) * 4096; i += 256) {
    atomicAdd_block(&counts[x[i]], 1);
  }
  __syncthreads();
  atomicAdd_block(&y[threadIdx.x], counts[threadIdx.x]);
}
