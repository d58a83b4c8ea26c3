/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "writes past the end of a large local array when a row is as long as that",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: denial.
// On cpu: out_of_bounds.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float kept[16000];
  kept[0] = 0;
  float* last = kept + 15999;
  for (int n = 0; n < N; ++n) kept[n % 16000] = in[n];
  last[1 + N % 2] = 1;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[blockIdx.x] = sum + 0 * kept[N % 16000 / 2];
}
