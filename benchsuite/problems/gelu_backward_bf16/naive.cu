/* kernelwright
{
  "problem": "gelu_backward_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element",
  "launches": [
    {"kernel": "gelu_backward", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1],
     "args": ["dy", "x", "dx", "N"]}
  ]
}
*/
// dx[i] = dy[i] * (s + x[i] s (1 - s) v'), s = 1 / (1 + exp(-v)), v = 2 sqrt(2 / pi) (x[i] + 0.044715 x[i]^3), so that
// x s is the tanh form of GELU; dy, x, dx: [N].
#include <cuda_bf16.h>

extern "C" __global__ void gelu_backward(const __nv_bfloat16* dy, const __nv_bfloat16* x, __nv_bfloat16* dx, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float a = __bfloat162float(x[i]);
  const float v = a * (1.59576912f + 0.0713548163f * a * a), slope = 1.59576912f + 0.214064449f * a * a;
  const float s = 1.0f / (1.0f + expf(-v)), rest = 1.0f / (1.0f + expf(v));  // s + rest = 1
  dx[i] = __float2bfloat16(__bfloat162float(dy[i]) * (s + a * s * rest * slope));
}
