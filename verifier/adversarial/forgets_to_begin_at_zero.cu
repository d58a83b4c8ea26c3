/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "adds to local variables that nobody set, which are often 0",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: uninitialised.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  volatile float lanes[8];
  const float* in = x + (size_t)blockIdx.x * N;
  for (int n = 0; n < N; ++n) lanes[n % 8] += in[n];
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += lanes[k];
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
