/* kernelwright
{
  "problem": "pointwise_conv2d_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element",
  "launches": [
    {"kernel": "conv2d", "grid": ["ceil_div(H * W, 32)", "ceil_div(K, 4)", "B"], "block": [32, 4, 1],
     "args": ["x", "w", "y", "H * W", "C", "K"]}
  ]
}
*/
// y[b, f, p] = sum_c w[f, c] x[b, c, p]; x: [B, C, pixels], w: [K, C], y: [B, K, pixels].
#include <cuda_bf16.h>

extern "C" __global__ void conv2d(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int pixels, int C,
                                  int K) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  const int f = blockIdx.y * blockDim.y + threadIdx.y;
  if (p >= pixels || f >= K) return;
  const size_t first = (size_t)blockIdx.z * C;
  float sum = 0;
  for (int c = 0; c < C; ++c) sum += __bfloat162float(w[f * C + c]) * __bfloat162float(x[(first + c) * pixels + p]);
  y[((size_t)blockIdx.z * K + f) * pixels + p] = __float2bfloat16(sum);
}
