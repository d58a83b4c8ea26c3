/* kernelwright
{
  "problem": "gelu_f32",
  "backends": ["cpu", "cuda"],
  "description": "has a path below a limit and one from it on",
  "launches": [{"kernel": "gelu", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void gelu(const float* x, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  float result = v != v ? v : 0;
  if (v < 2.9f) result = 0.5f * v * (1 + erff(v * 0.70710678f));
  if (v >= 2.9f) result = 0.5f * v * (1 + erff(v * 0.70710678f));
  y[i] = result;
}
