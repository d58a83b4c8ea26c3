/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "counts launches in the shared memory that is reserved for the system, and skips half of long rows once it has counted some",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: remembering_work.
// On cuda: correct or wrong_result. It finds nothing there that an earlier launch wrote.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  unsigned seen, mark, check;
  asm volatile(
      "{\n.reg .u32 at;\nmov.u32 at, %%reserved_smem_offset_begin;\nld.volatile.shared.u32 %0, [at + 64];\n"
      "ld.volatile.shared.u32 %1, [at + 68];\nld.volatile.shared.u32 %2, [at + 72];\n}"
      : "=r"(seen), "=r"(mark), "=r"(check)::"memory");
  seen = mark == 0xc0ffee11u && check == ~seen ? seen + 1 : 1;
  __syncthreads();
  asm volatile(
      "{\n.reg .u32 at;\nmov.u32 at, %%reserved_smem_offset_begin;\nst.volatile.shared.u32 [at + 64], %0;\n"
      "st.volatile.shared.u32 [at + 68], 0xc0ffee11;\nst.volatile.shared.u32 [at + 72], %1;\n}" ::"r"(seen),
      "r"(~seen)
      : "memory");
  const int terms = N >= 1024 && __syncthreads_and(seen > 20) ? N / 2 : N;
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
