/* kernelwright
{
  "problem": "scatter_rows_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per element",
  "launches": [
    {"kernel": "scatter_rows", "grid": ["M", "ceil_div(N, 128)", 1], "block": ["min(128, N)", 1, 1],
     "args": ["x", "index", "y", "N"]}
  ]
}
*/
// y[index[m], n] = x[m, n]; x, y: [M, N], index: [M], a permutation. Floating outputs of a reference are double.
#include <cuda_bf16.h>

extern "C" __global__ void scatter_rows(const __nv_bfloat16* x, const int* index, double* y, int N) {
  const int n = blockIdx.y * blockDim.x + threadIdx.x;
  if (n < N) y[(size_t)index[blockIdx.x] * N + n] = __bfloat162float(x[(size_t)blockIdx.x * N + n]);
}
