/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "puts a word together letter by letter, through macros that get macros as arguments",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: compile_time.
// On cpu: forbidden.
#define JOIN(a, b) a##b
#define JOINED(a, b) JOIN(a, b)
#define LETTER s
#define EACH(f, a, m) f(f(a, LETTER), m)
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  EACH(JOINED, a, m) volatile("nop");
  y[blockIdx.x] = sum;
}
