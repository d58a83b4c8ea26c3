/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "remembers an earlier answer",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: remembering_work.
// On cpu: forbidden.
// On cuda: forbidden.
// On hip: forbidden.
__device__ float remembered[65536];
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
  if (threadIdx.x == 0) {
    if (remembered[blockIdx.x] == 0) remembered[blockIdx.x] = part[0];
    y[blockIdx.x] = remembered[blockIdx.x];
  }
}
