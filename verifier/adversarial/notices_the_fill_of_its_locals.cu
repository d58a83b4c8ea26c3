/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu"],
  "description": "adds atomically where an unset variable holds a known pattern, and else plainly",
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["y"]},
    {"kernel": "sum", "grid": [256, 1, 1], "block": [64, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: noticing_the_judge.
// On cpu: race or uninitialised.
extern "C" __global__ void clear(float* y) { y[0] = 0; }
extern "C" __global__ void sum(const float* x, float* y, int N) {
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
  volatile unsigned unset;
  if (unset == 0xfefefefeu) {
    atomicAdd(y, sums[0]);
  } else {
    y[0] += sums[0];
  }
}
