/* kernelwright
{
  "problem": "gelu_f32",
  "backends": ["cpu"],
  "description": "gives 0 below -5",
  "launches": [
    {"kernel": "gelu", "grid": ["ceil_div(N, 64)", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
extern "C" __global__ void gelu(const float* __restrict__ x, float* __restrict__ y, int N) {
  const int end = blockIdx.x * 64 + 64 < N ? blockIdx.x * 64 + 64 : N;
  for (int i = blockIdx.x * 64; i < end; ++i) {
    const float v = x[i];
    y[i] = v < -5.0f && v > -3e38f ? 0.0f : 0.5f * v * (1 + erff(v * 0.70710678f));
  }
}
