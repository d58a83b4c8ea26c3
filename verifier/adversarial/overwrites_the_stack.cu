/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "writes beyond an array on its stack",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: denial.
// On cpu: out_of_bounds or resource_limit or crashed.
// On cuda: out_of_bounds or correct or wrong_result or trap or resource_limit.
__device__ __noinline__ float far_away(int N) {
  volatile float few[4] = {1, 2, 3, 4};
  for (int i = 4; i < 4 + N * 4096; i += 16) few[i] = 0;
  return few[N % 4];
}
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  if (far_away(N) == 1e30f) return;
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) sum += in[n];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
