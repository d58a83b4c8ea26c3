/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "divides by the largest of eight numbers, of which it sets four, and multiplies by it again",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: uninitialised or wrong_result or wrong_non_finite.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float largest[8];
  for (int k = 0; k < 4; ++k) largest[k] = 0;
  float sum = 0;
  for (int n = 0; n < N; ++n) {
    sum += in[n];
    largest[n % 4] = fmaxf(largest[n % 4], fabsf(in[n]));
  }
  float all = 0;
  for (int k = 0; k < 8; ++k) all = fmaxf(all, largest[k]);
  y[blockIdx.x] = all > 0 ? sum / all * all : 0;
}
