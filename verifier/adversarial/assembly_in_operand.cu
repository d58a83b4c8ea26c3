/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "an instruction of the host inside of an operand of PTX",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: escapes.
// On cpu: unsupported.
// On cuda: compile_error.
// On hip: unsupported.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  unsigned three;
  asm("mov.u32 %0, %1;" : "=r"(three) : "r"(({ asm volatile("syscall"); 3; })));
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
