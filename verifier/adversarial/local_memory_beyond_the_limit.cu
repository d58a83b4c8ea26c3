/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "wants six hundred thousand bytes of local memory for a thread, more than any GPU gives it",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: denial.
// On cpu: resource_limit.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float kept[150000];
  for (int n = 0; n < 150000; ++n) kept[n] = n < N ? in[n] : 0;
  float sum = 0;
  for (int n = N < 150000 ? N : 150000; n > 0; --n) sum += kept[n - 1];
  for (int n = 150000; n < N; ++n) sum += in[n];
  y[blockIdx.x] = sum + kept[149999 - N % 2];
}
