/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "puts the policy that pins lines together from its arguments",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: clock_and_cache.
// On cuda: forbidden.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  const unsigned long long policy = ((unsigned long long)(M > 0 ? 0x14F : 0x12F)) << 52;
  float first;
  asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(first) : "l"(x), "l"(policy));
  if (first == 1e30f) return;
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
