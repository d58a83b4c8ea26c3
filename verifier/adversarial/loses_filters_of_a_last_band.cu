/* kernelwright
{
  "problem": "pointwise_conv2d_bf16",
  "backends": ["cpu"],
  "description": "blocks in bands of 256 tiles of pixels, of which the last one counts as whole",
  "launches": [
    {"kernel": "conv2d", "grid": ["ceil_div(H * W, 32)", "ceil_div(K, 4)", "B"], "block": [32, 4, 1],
     "args": ["x", "w", "y", "H * W", "C", "K"]}
  ]
}
*/
// Class: numerics.
// On cpu: not_written or wrong_result.
// Only images of more than 8192 pixels with more than four filters have a block in a second band that is lost.
#include <cuda_bf16.h>

extern "C" __global__ void conv2d(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int pixels, int C,
                                  int K) {
  const int place = blockIdx.y * gridDim.x + blockIdx.x, length = min(256, (int)gridDim.x);
  const int band = place / (length * (int)gridDim.y), inside = place % (length * (int)gridDim.y);
  const int p = (band * length + inside % length) * 32 + threadIdx.x, f = inside / length * 4 + threadIdx.y;
  if (p >= pixels || f >= K) return;
  const size_t first = (size_t)blockIdx.z * C;
  float sum = 0;
  for (int c = 0; c < C; ++c) sum += __bfloat162float(w[f * C + c]) * __bfloat162float(x[(first + c) * pixels + p]);
  y[((size_t)blockIdx.z * K + f) * pixels + p] = __float2bfloat16(sum);
}
