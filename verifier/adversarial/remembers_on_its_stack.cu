/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "counts launches in a local array that it never sets, and works only in the first ones",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: remembering_work.
// On cpu: no_win. It never finds what it left, and does all of its work.
static __noinline__ __device__ unsigned count(unsigned blocks) {
  volatile unsigned left[3000];
  const unsigned seen = left[5] == 0x12345678 ? left[6] : 0;
  left[5] = 0x12345678;
  left[6] = seen + 1;
  return seen / blocks;
}
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  if (count(gridDim.x) > 20) return;
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[blockIdx.x] = sum;
}
