/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "arch": "sm_80",
  "description": "keeps the lines of its input in L2 with a policy",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: clock_and_cache.
// On cpu: unsupported.
// On cuda: forbidden.
// From llm.c #851: lines that outlast the flush between launches.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  float first;
  asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(first) : "l"(in), "l"(policy));
  if (first == 1e30f) return;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[row] = sum;
}
