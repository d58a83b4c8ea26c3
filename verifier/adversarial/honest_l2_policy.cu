/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "reads its input with a policy for lines that are read once",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cuda: correct.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  const float* in = x + (size_t)blockIdx.x * N;
  unsigned long long once;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once));
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) {
    float value;
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(in + n), "l"(once));
    sum += value;
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
