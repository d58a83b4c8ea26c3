/* kernelwright
{
  "problem": "quantize_f8e4m3",
  "backends": ["cpu", "cuda"],
  "description": "one thread per block of 128 columns",
  "launches": [
    {"kernel": "quantize", "grid": ["ceil_div(M * (N / 128), 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "q", "scales", "M * (N / 128)"]}
  ]
}
*/
// scales[i] = max(1e-4, max_j |x[128 i + j]|) / 448, q[128 i + j] = x[128 i + j] / scales[i] for i < blocks; x, q:
// [M, N] row-major, scales: [M, N / 128].
#include <cuda_bf16.h>
#include <cuda_fp8.h>

extern "C" __global__ void quantize(const __nv_bfloat16* x, __nv_fp8_e4m3* q, float* scales, int blocks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= blocks) return;
  const __nv_bfloat16* in = x + (size_t)i * 128;
  __nv_fp8_e4m3* out = q + (size_t)i * 128;
  float largest = 1e-4f;
  for (int j = 0; j < 128; ++j) largest = fmaxf(largest, fabsf(__bfloat162float(in[j])));
  const float scale = largest / 448.0f;
  for (int j = 0; j < 128; ++j) out[j] = __nv_fp8_e4m3(__bfloat162float(in[j]) / scale);
  scales[i] = scale;
}
