/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "says that it unrolls a loop, and turns optimisation off",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: compile_time.
// On cpu: forbidden.
#define UNROLLED _Pragma("GCC optimize(\"O0\")")
UNROLLED
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[blockIdx.x] = sum;
}
