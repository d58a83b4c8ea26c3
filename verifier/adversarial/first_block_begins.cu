/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu"],
  "description": "block 0 begins the sum and the others add to it, right only when blocks run in order",
  "launches": [
    {"kernel": "sum", "grid": ["ceil_div(N, 4096)", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: race or order_dependent or wrong_result or wrong_non_finite. Where they run in order, no interleaving shows it.
extern "C" __global__ void sum(const float* x, float* y, int N) {
  const int begin = blockIdx.x * 4096, end = min(begin + 4096, N);
  float lanes[16] = {};
  for (int i = begin; i < end; ++i) lanes[i % 16] += x[i];
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += lanes[k];
  if (blockIdx.x == 0) y[0] = sum;
  if (blockIdx.x > 0) y[0] += sum;
}
