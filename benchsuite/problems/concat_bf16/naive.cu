/* kernelwright
{
  "problem": "concat_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element",
  "launches": [
    {"kernel": "concat", "grid": ["M", "ceil_div(N1 + N2, 128)", 1], "block": ["min(128, N1 + N2)", 1, 1],
     "args": ["a", "b", "y", "N1", "N2"]}
  ]
}
*/
// y[m, n] = n < N1 ? a[m, n] : b[m, n - N1]; a: [M, N1], b: [M, N2], y: [M, N1 + N2].
#include <cuda_bf16.h>

extern "C" __global__ void concat(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* y, int N1, int N2) {
  const int n = blockIdx.y * blockDim.x + threadIdx.x;
  if (n >= N1 + N2) return;
  const size_t m = blockIdx.x;
  y[m * (N1 + N2) + n] = n < N1 ? a[m * N1 + n] : b[m * N2 + n - N1];
}
