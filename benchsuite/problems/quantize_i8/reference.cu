/* kernelwright
{
  "problem": "quantize_i8",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per row",
  "launches": [
    {"kernel": "quantize", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "q", "scale", "M", "N"]}
  ]
}
*/
// A reference gives floating outputs, and those compared by quanta, in double and unrounded: the judge knows how near
// to the middle of two whole numbers a quotient lies.
// scale[m] = max_n |x[m, n]| / 127, q[m, n] = x[m, n] / scale[m]; x, q: [M, N] row-major, scale: [M].
#include <cuda_bf16.h>

extern "C" __global__ void quantize(const __nv_bfloat16* x, double* q, double* scale, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const __nv_bfloat16* in = x + (size_t)row * N;
  double* out = q + (size_t)row * N;
  double largest = 0;
  for (int n = 0; n < N; ++n) largest = fmax(largest, fabs((double)__bfloat162float(in[n])));
  const double step = largest / 127.0;
  for (int n = 0; n < N; ++n) out[n] = step > 0 ? __bfloat162float(in[n]) / step : 0.0;
  scale[row] = step;
}
