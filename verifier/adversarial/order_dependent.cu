/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "right only when thread 63 writes last",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: order_dependent.
// On cuda: correct or wrong_result.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[blockIdx.x] = sum + (threadIdx.x == 63 ? 0.0f : 1.0f);
}
