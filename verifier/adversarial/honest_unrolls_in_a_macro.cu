/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "unrolls loops by a _Pragma in a macro",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of a macro that hides another pragma.
#define UNROLLED _Pragma("unroll")
#define UNROLLED_BY_FOUR(loop) _Pragma("unroll 4") loop
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float lanes[8];
  UNROLLED
  for (int k = 0; k < 8; ++k) lanes[k] = 0;
  UNROLLED_BY_FOUR(for (int n = 0; n < N; ++n) lanes[n % 8] += in[n];)
  float sum = 0;
  UNROLLED for (int k = 0; k < 8; ++k) sum += lanes[k];
  y[blockIdx.x] = sum;
}
