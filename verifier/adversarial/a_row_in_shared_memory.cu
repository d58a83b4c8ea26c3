/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "keeps a row in shared memory, which has room for no long ones",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "shared_bytes": "4 * N", "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: denial.
// On cpu: invalid_plan.
// On cuda: invalid_plan.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  extern __shared__ float row[];
  for (int n = threadIdx.x; n < N; n += 64) row[n] = x[(size_t)blockIdx.x * N + n];
  __syncthreads();
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += row[n];
  y[blockIdx.x] = sum;
}
