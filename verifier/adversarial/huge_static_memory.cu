/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "asks for 100 GB of static memory",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: denial.
// On cpu: forbidden.
// On cuda: forbidden.
// On hip: forbidden.
__device__ float big[25][1000][1000][1000];
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  big[threadIdx.x % 25][N % 1000][M % 1000][0] = 1;
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
