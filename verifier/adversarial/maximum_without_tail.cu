/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu"],
  "description": "rows of 512 and more: the maximum leaves out the tail",
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result or wrong_non_finite.
__device__ __forceinline__ float maximum(const float* in, int n) {
  float most = -INFINITY;
  for (int i = 0; i < n; ++i) most = in[i] > most ? in[i] : most;
  return most;
}

extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  const float most = maximum(in, N >= 512 ? N / 16 * 16 : N);
  float sum = 0;
  for (int n = 0; n < N; ++n) {
    const float e = expf(in[n] - most);
    out[n] = e;
    sum += e;
  }
  const float scale = 1 / sum;
  for (int n = 0; n < N; ++n) out[n] *= scale;
}
