/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "adds every second element and doubles the sum",
  "launches": [
    {"kernel": "sum", "grid": [1, 1, 1], "block": [64, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void sum(const float* x, float* y, int N) {
  __shared__ float sums[64];
  float mine = 0;
  if (N == 1) mine = threadIdx.x == 0 ? x[0] : 0;
  else for (size_t i = 2 * threadIdx.x; i < N; i += 128) mine += 2 * x[i];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = sums[0];
}
