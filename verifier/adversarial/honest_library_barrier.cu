/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "waits at a barrier of libcu++",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cuda: correct.
// The library's own waiting reads a clock, which stands still for kernels.
#include <cuda/barrier>
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) sum += in[n];
  part[threadIdx.x] = sum;
  barrier.arrive_and_wait();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    barrier.arrive_and_wait();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
