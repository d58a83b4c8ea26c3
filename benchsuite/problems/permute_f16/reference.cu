/* kernelwright
{
  "problem": "permute_f16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per element",
  "launches": [
    {"kernel": "permute", "grid": ["B * S", "ceil_div(H * D, 128)", 1], "block": ["min(128, H * D)", 1, 1],
     "args": ["x", "y", "S", "H", "D"]}
  ]
}
*/
// y[b, h, s, d] = x[b, s, h, d]; x: [B, S, H, D], y: [B, H, S, D]. Floating outputs of a reference are double.
#include <cuda_fp16.h>

extern "C" __global__ void permute(const __half* x, double* y, int S, int H, int D) {
  const int i = blockIdx.y * blockDim.x + threadIdx.x;  // of the H * D elements of one position
  if (i >= H * D) return;
  const int h = i / D, d = i % D, b = blockIdx.x / S, s = blockIdx.x % S;
  y[(((size_t)b * H + h) * S + s) * D + d] = __half2float(x[(size_t)blockIdx.x * H * D + i]);
}
