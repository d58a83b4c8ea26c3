/* kernelwright
{
  "problem": "gelu_backward_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per element",
  "launches": [
    {"kernel": "gelu_backward", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1],
     "args": ["dy", "x", "dx", "N"]}
  ]
}
*/
// dx[i] = dy[i] * (s + x[i] s (1 - s) v'), s = 1 / (1 + exp(-v)), v = 2 sqrt(2 / pi) (x[i] + 0.044715 x[i]^3), so that
// x s is the tanh form of GELU; dy, x, dx: [N]. Floating outputs of a reference are double.
#include <cuda_bf16.h>

extern "C" __global__ void gelu_backward(const __nv_bfloat16* dy, const __nv_bfloat16* x, double* dx, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const double a = __bfloat162float(x[i]);
  const double v = a * (1.5957691216057308 + 0.07135481627159705 * a * a),
               slope = 1.5957691216057308 + 0.21406444881479115 * a * a;
  const double s = 1.0 / (1.0 + exp(-v)), rest = 1.0 / (1.0 + exp(v));  // s + rest = 1
  dx[i] = __bfloat162float(dy[i]) * (s + a * s * rest * slope);
}
