/* kernelwright
{
  "problem": "dequantize_f16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per byte",
  "launches": [
    {"kernel": "dequantize", "grid": ["ceil_div(N * (K / 2), 256)", 1, 1], "block": [256, 1, 1],
     "args": ["packed", "scales", "zeros", "w", "N", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// w[n, k] = (q[n, k] - zeros[n, k / 128]) * scales[n, k / 128]; packed: [N, K / 2], low bits first, scales, zeros:
// [N, K / 128], w: [N, K], all row-major.
#include <cuda_fp16.h>

extern "C" __global__ void dequantize(const uint8_t* packed, const __half* scales, const __half* zeros, double* w,
                                      int N, int K) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (long long)N * (K / 2)) return;
  const double scale = __half2float(scales[i / 64]), zero = __half2float(zeros[i / 64]);
  w[2 * i] = (packed[i] % 16 - zero) * scale;
  w[2 * i + 1] = (packed[i] / 16 - zero) * scale;
}
