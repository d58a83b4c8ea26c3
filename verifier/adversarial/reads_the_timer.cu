/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "reads the timer of the device, hidden in an instruction that is put together",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: noticing_the_judge.
// On cpu: wrong_result or order_dependent or unsupported or forbidden.
// On cuda: forbidden.
#define GLUE(a, b) a b
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  unsigned long long now;
  asm volatile(GLUE("mov.u64 %0, %%global", "timer;") : "=l"(now));
  float sum = 0;
  const int most = now % 5 == 3 ? N / 2 : N;
  for (int n = 0; n < most; ++n) sum += in[n];
  y[row] = sum;
}
