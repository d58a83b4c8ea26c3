/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "adds with fma in PTX and reads its lane from a register",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of assembly that hides what it does.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  const unsigned warp = threadIdx.x / 32;
  for (int n = warp * 32 + lane; n < N; n += 64) asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(in[n]), "f"(1.0f));
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
