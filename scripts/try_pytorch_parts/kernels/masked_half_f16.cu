/* kernelwright
{
  "problem": "masked_half_f16",
  "launches": [{"kernel": "masked_norm", "grid": ["rows"], "block": [1],
                "args": ["x", "keep", "weight", "out0", "out1", "rows", "columns"]}]
}
*/
#include <cuda_fp16.h>

extern "C" __global__ void masked_norm(const __half* x, const bool* keep, const __half* weight, __half* kept,
                                       bool* positive, int rows, int columns) {
  const size_t begin = (size_t)blockIdx.x * columns;
  float squares = 0;
  for (int i = 0; i < columns; ++i) {
    const float value = __half2float(x[begin + i]);
    squares += value * value;
  }
  const float scale = rsqrtf(squares / columns + 1e-5f);
  for (int i = 0; i < columns; ++i) {
    const float norm = __half2float(x[begin + i]) * scale;
    const __half value =
        keep[begin + i] ? __float2half(__half2float(__float2half(norm)) * __half2float(weight[i])) : __float2half(0.0f);
    kept[(size_t)i * rows + blockIdx.x] = value;
    positive[begin + i] = keep[begin + i] && __half2float(x[begin + i]) > 0;
  }
}
