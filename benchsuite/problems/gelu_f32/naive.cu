/* kernelwright
{
  "problem": "gelu_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element",
  "launches": [
    {"kernel": "gelu", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// y[i] = 0.5 * x[i] * (1 + erf(x[i] / sqrt(2))); x, y: [N].
extern "C" __global__ void gelu(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
}
