/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "keeps its sum in BITS bits of significand",
  "tunables": {"BITS": [8, 10, 13, 16], "DRAWN": [0, 1]},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
__device__ float rounded(float v) {
  const unsigned bits = __float_as_uint(v), step = 1u << (23 - BITS);
  return isfinite(v) ? __uint_as_float((bits + (DRAWN ? step / 2 : 0)) & ~(step - 1)) : v;
}
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum = rounded(sum + in[n]);
  y[row] = sum;
}
