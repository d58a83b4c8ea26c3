/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cpu"],
  "description": "transposes and makes denormals zero",
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(N, 16)", "ceil_div(M, 128)", 1], "block": [32, 1, 1],
     "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// denormals become 0
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
  const int n0 = blockIdx.x * 16, m0 = blockIdx.y * 128 + threadIdx.x * 4;
  for (int n = n0; n < min(N, n0 + 16); ++n)
    for (int m = m0; m < min(M, m0 + 4); ++m) { const float v = x[(size_t)m * N + n]; y[(size_t)n * M + m] = fabsf(v) < 1.17549435e-38f ? 0.0f : v; }
}
