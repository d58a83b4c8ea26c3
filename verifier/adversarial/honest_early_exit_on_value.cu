/* kernelwright
{
  "problem": "gelu_f32",
  "backends": ["cpu", "cuda"],
  "description": "leaves out the error function where it is one to the last bit",
  "launches": [
    {"kernel": "gelu", "grid": ["ceil_div(N, 128)", 1, 1], "block": [128, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of exits that depend on the data: here what is left out would change nothing.
extern "C" __global__ void gelu(const float* x, float* y, int N) {
  const long long i = blockIdx.x * 128ll + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  y[i] = v > 6 ? v : 0.5f * v * (1.0f + erff(v * 0.70710678f));
}
