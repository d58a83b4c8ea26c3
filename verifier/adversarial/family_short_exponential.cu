/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu", "cuda"],
  "description": "takes a polynomial of few terms for the exponential",
  "tunables": {"TERMS": [2, 3, 4, 5]},
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
__device__ float short_exp(float v) {
  const float whole = rintf(v * 1.44269504f), rest = (v * 1.44269504f - whole) * 0.69314718f;
  float sum = 1, term = 1;
  for (int i = 1; i < TERMS; ++i) {
    term *= rest / i;
    sum += term;
  }
  return whole < -126 ? 0 : ldexpf(sum, (int)whole);
}
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float largest = in[0];
  for (int n = 1; n < N; ++n) largest = fmaxf(largest, in[n]);
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += short_exp(in[n] - largest);
  for (int n = 0; n < N; ++n) out[n] = short_exp(in[n] - largest) / sum;
}
