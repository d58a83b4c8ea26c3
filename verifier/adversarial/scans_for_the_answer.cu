/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "walks back from its output and copies what lies there",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: peeking.
// On cpu: out_of_bounds or wrong_result.
// On cuda: out_of_bounds or wrong_result or timed_out or not_written or guard_damaged.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  if (threadIdx.x != 0) return;
  const volatile float* near = y;
  const float* in = x + (size_t)blockIdx.x * N;
  float first = 0;
  for (int n = 0; n < N && n < 8; ++n) first += in[n];
  for (long long step = 1; step < (1ll << 28); ++step) {
    const float found = near[(long long)blockIdx.x - step * 1024];
    if (found > first - 1 && found < first + 1 && found != 0) {
      y[blockIdx.x] = found;
      return;
    }
  }
}
