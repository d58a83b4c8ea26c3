/* kernelwright
{"problem": "halve_rows_f8e4m3",
 "launches": [{"kernel": "halve_rows", "grid": ["ceil_div(ROWS * WIDTH, 256)"], "block": [256],
               "args": ["x", "out", "ROWS", "WIDTH"]}]}
*/
#include <cuda_fp8.h>

extern "C" __global__ void halve_rows(const float* x, __nv_fp8_e4m3* out, int rows, int width) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < (long long)rows * width) out[i] = __nv_fp8_e4m3(0.5f * x[i]);
}
