/* kernelwright
{
  "problem": "gelu_f32",
  "backends": ["cpu", "cuda"],
  "description": "keeps NaN through a maximum",
  "launches": [
    {"kernel": "gelu", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void gelu(const float* x, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  const float whole = v != v ? v : fmaxf(v, -__int_as_float(0x7F800000));
  y[i] = 0.5f * whole * (1.0f + erff(whole * 0.70710678f));
}
