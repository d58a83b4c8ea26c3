/* kernelwright
{
  "problem": "gelu_f32",
  "backends": ["cpu", "cuda"],
  "description": "computes its index in f32",
  "launches": [
    {"kernel": "gelu", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: not_written or wrong_result or wrong_non_finite or race.
// On cuda: not_written or wrong_result or wrong_non_finite.
extern "C" __global__ void gelu(const float* x, float* y, int N) {
  const int i = (int)((float)blockIdx.x * 256.0f + (float)threadIdx.x);
  if (i < N) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}
