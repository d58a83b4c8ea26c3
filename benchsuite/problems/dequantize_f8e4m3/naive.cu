/* kernelwright
{
  "problem": "dequantize_f8e4m3",
  "backends": ["cpu", "cuda"],
  "description": "one thread per block of 128 columns",
  "launches": [
    {"kernel": "dequantize", "grid": ["ceil_div(M * (N / 128), 64)", 1, 1], "block": [64, 1, 1],
     "args": ["q", "scales", "y", "M * (N / 128)"]}
  ]
}
*/
// y[128 i + j] = q[128 i + j] * scales[i] for i < blocks; q, y: [M, N] row-major, scales: [M, N / 128].
#include <cuda_bf16.h>
#include <cuda_fp8.h>

extern "C" __global__ void dequantize(const __nv_fp8_e4m3* q, const float* scales, __nv_bfloat16* y, int blocks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= blocks) return;
  const __nv_fp8_e4m3* in = q + (size_t)i * 128;
  __nv_bfloat16* out = y + (size_t)i * 128;
  for (int j = 0; j < 128; ++j) out[j] = __float2bfloat16((float)in[j] * scales[i]);
}
