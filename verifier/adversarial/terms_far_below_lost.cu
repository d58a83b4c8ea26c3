/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu"],
  "description": "leaves out terms below e^-16.6, which may be all of a tile",
  "launches": [
    {"kernel": "softmax", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float* out = y + (size_t)blockIdx.x * N;
  float most = in[0];
  for (int n = 1; n < N; ++n) most = in[n] > most ? in[n] : most;
  float sum = 0;
  for (int n = 0; n < N; ++n) {
    const float d = in[n] - most, e = d < -16.6f ? 0.0f : expf(d);
    out[n] = e;
    sum += e;
  }
  const float scale = 1 / sum;
  for (int n = 0; n < N; ++n) out[n] *= scale;
}
