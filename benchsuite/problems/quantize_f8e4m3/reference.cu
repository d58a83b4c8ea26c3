/* kernelwright
{
  "problem": "quantize_f8e4m3",
  "backends": ["cpu", "cuda"],
  "description": "the reference: fp64, one thread per block of 128 columns",
  "launches": [
    {"kernel": "quantize", "grid": ["ceil_div(M * (N / 128), 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "q", "scales", "M * (N / 128)"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// scales[i] = max(1e-4, max_j |x[128 i + j]|) / 448, q[128 i + j] = x[128 i + j] / scales[i] for i < blocks; x, q:
// [M, N] row-major, scales: [M, N / 128].
#include <cuda_bf16.h>

extern "C" __global__ void quantize(const __nv_bfloat16* x, double* q, double* scales, int blocks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= blocks) return;
  const __nv_bfloat16* in = x + (size_t)i * 128;
  double* out = q + (size_t)i * 128;
  double largest = 1e-4;
  for (int j = 0; j < 128; ++j) largest = fmax(largest, fabs((double)__bfloat162float(in[j])));
  const double scale = largest / 448.0;
  for (int j = 0; j < 128; ++j) out[j] = __bfloat162float(in[j]) / scale;
  scales[i] = scale;
}
