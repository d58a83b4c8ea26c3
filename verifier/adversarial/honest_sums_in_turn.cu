/* kernelwright
{
  "problem": "rmsnorm_f16",
  "backends": ["cpu"],
  "description": "resident blocks have sums of two rows in turn, and one barrier for each",
  "launches": [
    {"kernel": "rmsnorm", "grid": ["min(M, 528)", 1, 1], "block": [64, 1, 1], "args": ["x", "w", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm(const __half* x, const __half* w, __half* y, int M, int N) {
  __shared__ float both[2][64];
  int turn = 0;
  for (int row = blockIdx.x; row < M; row += gridDim.x, turn ^= 1) {
    float* parts = both[turn];
    const __half* in = x + (size_t)row * N;
    __half* out = y + (size_t)row * N;
    float own = 0;
    for (int n = threadIdx.x; n < N; n += 64) {
      const float v = __half2float(in[n]);
      own += v * v;
    }
    parts[threadIdx.x] = own;
    __syncthreads();
    float sum = 0;
    for (int t = 0; t < 64; ++t) sum += parts[t];
    const float scale = rsqrtf(sum / N + 1e-5f);
    for (int n = threadIdx.x; n < N; n += 64) out[n] = __float2half(__half2float(in[n]) * scale * __half2float(w[n]));
  }
}
