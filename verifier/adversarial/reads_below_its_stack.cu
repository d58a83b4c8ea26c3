/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "looks below its own stack for what earlier calls have left",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: remembering_work.
// On cpu: out_of_bounds.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  volatile unsigned mine = N;
  volatile unsigned* below = &mine - (500 + M % 7);
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = *below == 0x12345678 ? 1.0f : 0.0f;
  for (int n = 0; n < N; ++n) sum += in[n];
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
