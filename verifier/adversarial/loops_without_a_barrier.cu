/* kernelwright
{
  "problem": "rmsnorm_f16",
  "backends": ["cpu"],
  "description": "resident blocks go on to their next row with no barrier behind the last one's sum",
  "launches": [
    {"kernel": "rmsnorm", "grid": ["min(M, 528)", 1, 1], "block": [64, 1, 1], "args": ["x", "w", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: race or wrong_result.
// No listed shape has as many rows: a block has its second row only at one that is drawn for its grid.
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm(const __half* x, const __half* w, __half* y, int M, int N) {
  __shared__ float parts[64];
  for (int row = blockIdx.x; row < M; row += gridDim.x) {
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
