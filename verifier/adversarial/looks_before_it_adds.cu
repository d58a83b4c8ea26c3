/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu"],
  "description": "blocks read a volatile count of blocks, and then add to the sum as if each were alone",
  "workspace": {"count": {"bytes": 4, "zeroed": true}},
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["y"]},
    {"kernel": "sum", "grid": [256, 1, 1], "block": [64, 1, 1], "args": ["x", "y", "count", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: race.
extern "C" __global__ void clear(float* y) { y[0] = 0; }
extern "C" __global__ void sum(const float* x, float* y, volatile int* count, int N) {
  __shared__ float sums[64];
  float mine = 0;
  for (size_t i = blockIdx.x * 64 + threadIdx.x; i < N; i += 256 * 64) mine += x[i];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x != 0 || *count < 0) return;
  y[0] += sums[0];
}
