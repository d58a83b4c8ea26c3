/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu"],
  "description": "blocks add to one element, each while it holds a lock",
  "workspace": {"lock": {"bytes": 4, "zeroed": true}},
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["y"]},
    {"kernel": "sum", "grid": [256, 1, 1], "block": [64, 1, 1], "args": ["x", "lock", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of fences and volatile accesses that keep nobody out.
extern "C" __global__ void clear(float* y) { y[0] = 0; }
extern "C" __global__ void sum(const float* x, int* lock, float* y, int N) {
  __shared__ float sums[64];
  float mine = 0;
  for (size_t i = blockIdx.x * 64 + threadIdx.x; i < N; i += 256 * 64) mine += x[i];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  while (atomicExch(lock, 1) != 0) __nanosleep(100);
  __threadfence();
  y[0] += sums[0];
  __threadfence();
  atomicExch(lock, 0);
}
