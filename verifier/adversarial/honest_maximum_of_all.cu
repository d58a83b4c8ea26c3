/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu"],
  "description": "its maximum begins at minus infinity and takes every element",
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of maxima that begin too high or leave out a tail.
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
  const float most = maximum(in, N);
  float sum = 0;
  for (int n = 0; n < N; ++n) {
    const float e = expf(in[n] - most);
    out[n] = e;
    sum += e;
  }
  const float scale = 1 / sum;
  for (int n = 0; n < N; ++n) out[n] *= scale;
}
