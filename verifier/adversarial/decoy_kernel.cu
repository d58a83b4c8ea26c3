/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "launches a right kernel for show, and then one that overwrites its result with less work",
  "launches": [
    {"kernel": "honest_sum", "grid": [1, 1, 1], "block": [32, 1, 1], "args": ["x", "y", "min(N, 1)"]},
    {"kernel": "sum", "grid": [1, 1, 1], "block": [32, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
__device__ void add_all(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += x[i];
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x == 0) y[0] = sum;
}
extern "C" __global__ void honest_sum(const float* x, float* y, int n) { add_all(x, y, n); }
extern "C" __global__ void sum(const float* x, float* y, int N) { add_all(x, y, N > 4096 ? 4096 : N); }
