/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu", "cuda"],
  "description": "starts its maximum at 0",
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result or wrong_non_finite.
// On cuda: wrong_result or wrong_non_finite.
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float largest = 0;
  for (int n = 0; n < N; ++n) largest = fmaxf(largest, in[n]);
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += expf(in[n] - largest);
  for (int n = 0; n < N; ++n) out[n] = expf(in[n] - largest) / sum;
}
