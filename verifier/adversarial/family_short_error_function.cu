/* kernelwright
{
  "problem": "gelu_f32",
  "backends": ["cpu", "cuda"],
  "description": "takes a formula with an error of one in FITS for the error function",
  "tunables": {"FORM": [0, 1]},
  "launches": [
    {"kernel": "gelu", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
// Abramowitz and Stegun 7.1.27 and 7.1.25: absolute errors of 5e-4 and 2.5e-5. (7.1.26 errs by 1.5e-7, no more than a
// GPU's own functions may.)
__device__ float short_erf(float v) {
  const float a = fabsf(v);
#if FORM == 0
  const float d = 1 + a * (0.278393f + a * (0.230389f + a * (0.000972f + a * 0.078108f)));
  const float r = 1 - 1 / (d * d * d * d);
#else
  const float t = 1 / (1 + 0.47047f * a);
  const float r = 1 - t * (0.3480242f + t * (-0.0958798f + t * 0.7478556f)) * expf(-a * a);
#endif
  return v < 0 ? -r : r;
}
extern "C" __global__ void gelu(const float* x, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  y[i] = isfinite(v) ? 0.5f * v * (1.0f + short_erf(v * 0.70710678f)) : 0.5f * v * (1.0f + erff(v));
}
