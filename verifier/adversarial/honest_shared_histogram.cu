/* kernelwright
{
  "problem": "histogram_i32",
  "backends": ["cpu", "cuda"],
  "description": "counts in shared memory and adds with atomics",
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [256, 1, 1], "args": ["y"]},
    {"kernel": "count", "grid": [32, 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void clear(int* y) { y[threadIdx.x] = 0; }
extern "C" __global__ void count(const int* x, int* y, int N) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (size_t i = blockIdx.x * 256 + threadIdx.x; i < N; i += 32 * 256) atomicAdd(&bins[x[i]], 1);
  __syncthreads();
  if (bins[threadIdx.x] != 0) atomicAdd(&y[threadIdx.x], bins[threadIdx.x]);
}
