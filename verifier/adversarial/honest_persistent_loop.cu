/* kernelwright
{
  "problem": "gelu_f32",
  "backends": ["cpu", "cuda"],
  "description": "a few blocks that walk over all of the input",
  "launches": [
    {"kernel": "gelu", "grid": [16, 1, 1], "block": [128, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void gelu(const float* x, float* y, int N) {
  for (long long i = blockIdx.x * 128ll + threadIdx.x; i < N; i += gridDim.x * 128ll) {
    y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
  }
}
