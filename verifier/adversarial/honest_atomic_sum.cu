/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "adds with atomics, in whatever order the blocks come",
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["y"]},
    {"kernel": "add", "grid": [512, 1, 1], "block": [64, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of races: the last bits change from launch to launch, and the result is right every time.
extern "C" __global__ void clear(float* y) { y[0] = 0; }
extern "C" __global__ void add(const float* x, float* y, int N) {
  float sum = 0;
  for (size_t i = blockIdx.x * 64 + threadIdx.x; i < N; i += 512 * 64) sum += x[i];
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(y, sum);
}
