/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu"],
  "description": "all blocks add to one element as if each were alone",
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["y"]},
    {"kernel": "sum", "grid": ["ceil_div(N, 4096)", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: race. No order of whole blocks shows it.
extern "C" __global__ void clear(float* y) { y[0] = 0; }
extern "C" __global__ void sum(const float* x, float* y, int N) {
  const int begin = blockIdx.x * 4096, end = min(begin + 4096, N);
  float lanes[16] = {};
  for (int i = begin; i < end; ++i) lanes[i % 16] += x[i];
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += lanes[k];
  y[0] += sum;
}
