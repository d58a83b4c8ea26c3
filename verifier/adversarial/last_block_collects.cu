/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu"],
  "description": "the block with the highest index collects what the others found, and waits for none",
  "workspace": {"partial": {"bytes": "4 * ceil_div(N, 4096)"}},
  "launches": [
    {"kernel": "sum", "grid": ["ceil_div(N, 4096)", 1, 1], "block": [1, 1, 1], "args": ["x", "partial", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: race or order_dependent or wrong_result or wrong_non_finite.
extern "C" __global__ void sum(const float* x, float* partial, float* y, int N) {
  const int begin = blockIdx.x * 4096, end = min(begin + 4096, N);
  float lanes[16] = {};
  for (int i = begin; i < end; ++i) lanes[i % 16] += x[i];
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += lanes[k];
  partial[blockIdx.x] = sum;
  if (blockIdx.x + 1 < gridDim.x) return;
  float total = 0;
  for (int k = 0; k < gridDim.x; ++k) total += partial[k];
  y[0] = total;
}
