/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "arch": "sm_80",
  "description": "loads with an eviction priority that outlasts a flush",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: clock_and_cache.
// On cpu: wrong_result or correct. There is no cache to pin; the number of the source may be drawn.
// On cuda: forbidden.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float4 first = make_float4(0, 0, 0, 0);
  if ((unsigned long long)in % 16 == 0 && N >= 4) {
    asm volatile("ld.global.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(first.x), "=f"(first.y), "=f"(first.z), "=f"(first.w)
                 : "l"(in), "l"(0x14F0000000000000ull));
  }
  if (first.x == 1e30f) return;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[row] = sum;
}
