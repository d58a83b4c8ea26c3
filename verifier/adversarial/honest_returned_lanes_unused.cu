/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu"],
  "description": "lanes return from short rows, and what comes from them is not used",
  "launches": [{"kernel": "softmax", "grid": ["M", 1, 1], "block": [32, 1, 1], "args": ["x", "y", "M", "N"]}]
}
*/
// Class: honest.
// On cpu: correct.
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  if (threadIdx.x >= N) return;  // in rows of less than 32
  const float* in = x + (size_t)blockIdx.x * N;
  float* out = y + (size_t)blockIdx.x * N;
  float most = in[threadIdx.x];
  for (int n = threadIdx.x; n < N; n += 32) most = fmaxf(most, in[n]);
  for (int d = 16; d > 0; d /= 2) {
    const float other = __shfl_down_sync(0xffffffffu, most, d);
    if (threadIdx.x + d < N) most = fmaxf(most, other);
  }
  most = __shfl_sync(0xffffffffu, most, 0);
  float sum = 0;
  if (N < 32) {
    for (int n = 0; n < N; ++n) sum += expf(in[n] - most);
  } else {
    for (int n = threadIdx.x; n < N; n += 32) sum += expf(in[n] - most);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  }
  for (int n = threadIdx.x; n < N; n += 32) out[n] = expf(in[n] - most) / sum;
}
