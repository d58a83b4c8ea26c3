/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "has a block for each row along y, where a grid ends at 65535",
  "launches": [
    {"kernel": "row_sum", "grid": [1, "M", 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: denial.
// On cpu: invalid_plan.
// On cuda: invalid_plan.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += x[(size_t)blockIdx.y * N + n];
  y[blockIdx.y] = sum;
}
