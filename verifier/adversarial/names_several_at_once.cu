/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "declares several variables in one statement of assembly, and writes to the second",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: remembering_work.
// On cuda: forbidden.
// The function ends in the assembly, and another begins.
__device__ __noinline__ void declare() {
  asm volatile("}\n.global .align 4 .b32 first, second;\n.func unused() {\n");
}
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  declare();
  int seen;
  asm volatile("atom.global.add.u32 %0, [second], 1;" : "=r"(seen)::"memory");
  const int terms = seen > 500000 ? N / 2 : N;
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = threadIdx.x; n < terms; n += 64) sum += in[n];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
