/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "reduces with as many threads as a block can have, each with a stack of its own",
  "launches": [{"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1024, 1, 1], "args": ["x", "y", "M", "N"]}]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of stacks that use up all memory.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[1024];
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 1024) sum += in[n];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
