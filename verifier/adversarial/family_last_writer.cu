/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "several threads write the same element, and one of them what is right",
  "tunables": {"RIGHT": [0, 31, 63]},
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: order_dependent or wrong_result.
// On cuda: wrong_result or correct. Which write is last is left to the hardware.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[blockIdx.x] = threadIdx.x == RIGHT ? sum : sum + 1;
}
