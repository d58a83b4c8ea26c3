/* kernelwright
{
  "problem": "gelu_f32",
  "backends": ["cpu", "cuda"],
  "description": "gives 0 for minus infinity, where gelu is NaN",
  "launches": [
    {"kernel": "gelu", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_non_finite.
// On cuda: wrong_non_finite.
extern "C" __global__ void gelu(const float* x, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) y[i] = x[i] < -1e20f ? 0.0f : 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
}
