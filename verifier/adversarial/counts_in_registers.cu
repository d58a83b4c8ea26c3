/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "counts launches in registers that it never wrote, and skips half of long rows once it has counted some",
  "launches": [
    {"kernel": "row_sum", "grid": ["min(M, 256)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: remembering_work.
// On cuda: correct or wrong_result. It finds nothing there that an earlier launch wrote.
extern "C" __global__ void __launch_bounds__(256) row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[256];
  __shared__ unsigned marks[256];
  unsigned left;
  asm volatile("{\n.reg .u32 nothing;\nmov.u32 %0, nothing;\n}" : "=r"(left));
  const unsigned seen = left >> 8 == 0xc0ffeeu ? (left & 255) + 1 : 0;
  const int terms = N >= 1024 && __syncthreads_or(seen > 20) ? N / 2 : N;
  for (int row = blockIdx.x; row < M; row += gridDim.x) {
    const float* in = x + (size_t)row * N;
    float sum = 0;
    for (int n = threadIdx.x; n < terms; n += 256) sum += in[n];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
      __syncthreads();
    }
    if (threadIdx.x == 0) y[row] = part[0];
    __syncthreads();
  }
  // Its last registers hold the count, whichever of them the next launch looks at.
  volatile unsigned* shared = marks;
  shared[threadIdx.x] = 0xc0ffee00u | (seen & 255);
  __syncthreads();
  unsigned held[24];
#pragma unroll
  for (int i = 0; i < 24; ++i) held[i] = shared[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 24; ++i) shared[i] = held[i];
}
