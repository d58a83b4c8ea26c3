/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "has the compiler make a template of the next one for ever",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: compile_time.
// On cpu: limit.
template <int depth>
struct Deeper {
  static constexpr int value = Deeper<depth + 1>::value;
};
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0 * Deeper<0>::value;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[blockIdx.x] = sum;
}
