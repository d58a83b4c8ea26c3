/* kernelwright
{
  "problem": "cast_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element",
  "launches": [
    {"kernel": "cast", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// y[i] = bf16(x[i]); x, y: [N].
#include <cuda_bf16.h>

extern "C" __global__ void cast(const float* x, __nv_bfloat16* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = __float2bfloat16(x[i]);
}
