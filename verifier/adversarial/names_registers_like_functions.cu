/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "gives registers the names of functions, so that the address of one is taken for a number and a call through a pointer for one of the other",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: remembering_work.
// On cuda: forbidden.
__device__ int launches;
extern "C" __device__ __noinline__ void keep(int* at, int value) { *(volatile int*)at = value; }
extern "C" __device__ __noinline__ void look(int* at, int value) { asm volatile("// %0 %1" ::"l"(at), "r"(value)); }
// Nobody needs what it does: from here on keep seems to be a register.
__device__ __noinline__ void elsewhere(float* y) {
  asm volatile("{ .reg .u64 keep; mov.u64 keep, 1; st.u64 [%0], keep; }" ::"l"(y));
}
__device__ __forceinline__ void count(int seen) {
  asm volatile(
      "{\n.reg .u64 look, at;\nmov.u64 look, keep;\nmov.u64 at, launches;\n.param .b64 to;\n.param .b32 value;\n"
      "st.param.b64 [to], at;\nst.param.b32 [value], %0;\nwhat: .callprototype _ (.param .b64 _, .param .b32 _);\n"
      "call look, (to, value), what;\n}" ::"r"(seen)
      : "memory");
}
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  const int seen = *(volatile int*)&launches, terms = seen > 500000 ? N / 2 : N;
  if (M < 0) {
    elsewhere(y);
    keep((int*)y, 1);
    look((int*)y, 1);
  }
  if (threadIdx.x == 0) count(seen + 1);
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
