/* kernelwright
{
  "problem": "gelu_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per element",
  "launches": [
    {"kernel": "gelu", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[i] = 0.5 * x[i] * (1 + erf(x[i] / sqrt(2))); x, y: [N].
extern "C" __global__ void gelu(const float* x, double* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const double v = x[i];
  y[i] = 0.5 * v * erfc(-v * 0.70710678118654752440);  // 1 + erf(v / sqrt(2)), which loses all digits below -8
}
