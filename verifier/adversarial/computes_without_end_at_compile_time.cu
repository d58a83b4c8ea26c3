/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "has the compiler count further than it does",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: compile_time.
// On cpu: limit.
constexpr long count(long to) {
  long n = 0;
  while (n < to) ++n;
  return n;
}
constexpr long counted = count(1L << 40);
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0 * counted;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[blockIdx.x] = sum;
}
