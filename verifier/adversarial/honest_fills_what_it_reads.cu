/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "has room for eight lanes, and sets and reads as many as it needs",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of lanes that are read and never set.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float lanes[8];
  const int used = N < 8 ? N : 8;
  for (int k = 0; k < used; ++k) lanes[k] = in[k];
  for (int n = 8; n < N; ++n) lanes[n % 8] += in[n];
  float sum = 0;
  for (int k = 0; k < used; ++k) sum += lanes[k];
  y[blockIdx.x] = sum;
}
