/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "description": "every lane adds what stands half the way on, also where nobody wrote, and only the lower ones keep it",
  "launches": [{"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}]
}
*/
// Class: honest.
// On cuda: correct.
// The twin of an output that depends on shared memory that nobody wrote.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[96];  // the last third is never written
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) sum += in[n];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    const float both = part[threadIdx.x] + part[threadIdx.x + half];
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] = both;
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
