/* kernelwright
{
  "problem": "dequantize_f8e4m3",
  "backends": ["cpu", "cuda"],
  "description": "the reference: the product in fp32 as defined, one thread per block of 128 columns",
  "launches": [
    {"kernel": "dequantize", "grid": ["ceil_div(M * (N / 128), 64)", 1, 1], "block": [64, 1, 1],
     "args": ["q", "scales", "y", "M * (N / 128)"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge rounds them to bf16 and
// compares bit for bit. The contract defines the product in fp32. A product in double would round to another bf16 where
// rounding to fp32 makes it a tie.
// y[128 i + j] = q[128 i + j] * scales[i] for i < blocks; q, y: [M, N] row-major, scales: [M, N / 128].
#include <cuda_fp8.h>

extern "C" __global__ void dequantize(const __nv_fp8_e4m3* q, const float* scales, double* y, int blocks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= blocks) return;
  const __nv_fp8_e4m3* in = q + (size_t)i * 128;
  double* out = y + (size_t)i * 128;
  for (int j = 0; j < 128; ++j) out[j] = (float)in[j] * scales[i];
}
