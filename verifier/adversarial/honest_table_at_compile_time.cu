/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "has the compiler make a table by a loop and templates a few dozen deep",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of compiling without end.
template <int depth>
struct Power {
  static constexpr float value = Power<depth - 1>::value * 0.5f;
};
template <>
struct Power<0> {
  static constexpr float value = 1;
};
struct Table {
  int entries[64];
};
constexpr Table made() {
  Table table{};
  for (int i = 0; i < 64; ++i) table.entries[i] = i;
  return table;
}
constexpr Table kOrder = made();
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0 * Power<60>::value;
  for (int n = 0; n < N; ++n) sum += in[n - n % 64 + kOrder.entries[n % 64]];
  y[blockIdx.x] = sum;
}
