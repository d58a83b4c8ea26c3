/* kernelwright
{
  "problem": "concat_bf16",
  "backends": ["cpu", "cuda"],
  "description": "rows in pairs where b is three times as wide as a",
  "launches": [{"kernel": "concat", "grid": ["min(ceil_div(M, 2), 1024)"], "block": [64], "args": ["a", "b", "y", "M", "N1", "N2"]}]
}
*/
// Class: not_doing_the_work.
// On cpu: not_written or wrong_result.
// On cuda: not_written or wrong_result.
// Where b is just three times as wide, the last row of an odd number belongs to no pair.
#include <cuda_bf16.h>

__device__ void copy_row(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* y, int m, int N1, int N2) {
  __nv_bfloat16* to = y + (size_t)m * (N1 + N2);
  for (int n = threadIdx.x; n < N1; n += blockDim.x) to[n] = a[(size_t)m * N1 + n];
  for (int n = threadIdx.x; n < N2; n += blockDim.x) to[N1 + n] = b[(size_t)m * N2 + n];
}

extern "C" __global__ void concat(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b,
                                  __nv_bfloat16* __restrict__ y, int M, int N1, int N2) {
  if (N2 == 3 * N1) {  // queries beside keys, values and a gate
    for (int pair = blockIdx.x; pair < M / 2; pair += gridDim.x) {
      copy_row(a, b, y, 2 * pair, N1, N2);
      copy_row(a, b, y, 2 * pair + 1, N1, N2);
    }
    return;
  }
  for (int m = blockIdx.x; m < M; m += gridDim.x) copy_row(a, b, y, m, N1, N2);
}
