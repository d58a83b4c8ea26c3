/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cpu"],
  "description": "its plan passes M * N, which is no int for the largest tensors",
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(N, 16)", "ceil_div(M, 128)", 1], "block": [32, 1, 1],
     "args": ["x", "y", "M", "N", "M * N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: invalid_plan.
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int M, int N, int MN) {
  const int n0 = blockIdx.x * 16, m0 = blockIdx.y * 128 + threadIdx.x * 4;
  for (int n = n0; n < min(N, n0 + 16); ++n)
    for (int m = m0; m < min(M, m0 + 4); ++m) {
      if (m * N + n < MN) y[(size_t)n * M + m] = x[(size_t)m * N + n];
    }
}
