/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "uses up its stack",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: denial.
// On cpu: resource_limit.
// On cuda: resource_limit or out_of_bounds or trap.
// On hip: forbidden.
__device__ __noinline__ float deep(const float* in, int n) {
  volatile float here[64];
  here[n % 64] = in[0];
  return n == 0 ? here[0] : deep(in, n - 1) + here[n % 64];
}
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) sum += in[n];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0] + 0 * deep(x, 100000);
}
