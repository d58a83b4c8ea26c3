/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "calls its variables texture and surface, which are words like others",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* texture = x + (size_t)blockIdx.x * N;
  float surface = 0;
  for (int n = 0; n < N; ++n) surface += texture[n];
  y[blockIdx.x] = surface;
}
