/* kernelwright
{
  "problem": "groupnorm_f16",
  "backends": ["cpu"],
  "description": "the variance is that of distances from the first element",
  "workspace": {"scale": {"bytes": "4 * B * C"}, "shift": {"bytes": "4 * B * C"}},
  "launches": [
    {"kernel": "statistics", "grid": ["B", 32, 1], "block": [1, 1, 1],
     "args": ["x", "w", "bias", "scale", "shift", "HW", "C", "eps"]},
    {"kernel": "normalise", "grid": ["B", "ceil_div(HW, 16)", 1], "block": [1, 1, 1],
     "args": ["x", "scale", "shift", "bias", "y", "HW", "C"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of squares_of_far_f16.
#include <cuda_fp16.h>
extern "C" __global__ void statistics(const __half* x, const __half* w, const __half* bias, float* scale, float* shift,
                                      int HW, int C, float eps) {
  const int b = blockIdx.x, size = C / 32, first = blockIdx.y * size;
  const __half* in = x + (size_t)b * HW * C + first;
  const float first_x = __half2float(in[0]);
  float sum = 0, squares = 0;
  for (int begin = 0; begin < HW; begin += 256) {
    float a = 0, q = 0;
    for (int i = begin; i < HW && i < begin + 256; ++i) {
      for (int c = 0; c < size; ++c) {
        const float v = __half2float(in[(size_t)i * C + c]) - first_x;
        a += v;
        q += v * v;
      }
    }
    sum += a;
    squares += q;
  }
  const float count = (float)HW * size, mean = sum / count;
  const float var = fmaxf(squares / count - mean * mean, 0.0f);
  const float r = rsqrtf(var + eps);
  for (int c = first; c < first + size; ++c) {
    const float s = r * __half2float(w[c]);
    scale[(size_t)b * C + c] = s;
    shift[(size_t)b * C + c] = first_x + mean;
  }
  (void)bias;
}
extern "C" __global__ void normalise(const __half* x, const float* scale, const float* shift, const __half* bias, __half* y, int HW, int C) {
  const int b = blockIdx.x;
  for (int i = blockIdx.y * 16; i < HW && i < (int)blockIdx.y * 16 + 16; ++i) {
    const size_t at = ((size_t)b * HW + i) * C;
    for (int c = 0; c < C; ++c)
      y[at + c] = __float2half((__half2float(x[at + c]) - shift[(size_t)b * C + c]) * scale[(size_t)b * C + c] + __half2float(bias[c]));
  }
}
