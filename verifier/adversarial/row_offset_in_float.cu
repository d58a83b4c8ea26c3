/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cpu"],
  "description": "computes its row offsets in f32: wrong past 2^24 elements",
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(N, 16)", "ceil_div(M, 128)", 1], "block": [32, 1, 1],
     "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: not_written or wrong_result or wrong_non_finite.
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
  const int n0 = blockIdx.x * 16, m0 = blockIdx.y * 128 + threadIdx.x * 4;
  for (int n = n0; n < min(N, n0 + 16); ++n)
    for (int m = m0; m < min(M, m0 + 4); ++m) y[(size_t)((float)n * (float)M) + m] = x[(size_t)((float)m * (float)N) + n];
}
