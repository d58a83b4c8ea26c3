/* kernelwright
{
  "problem": "groupnorm_f16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, sums of channels, then one thread per element",
  "workspace": {"sums": {"bytes": "8 * B * C"}, "squares": {"bytes": "8 * B * C"}},
  "launches": [
    {"kernel": "channel_sums", "grid": ["ceil_div(B * C, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "sums", "B", "HW", "C"]},
    {"kernel": "channel_squares", "grid": ["ceil_div(B * C, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "sums", "squares", "B", "HW", "C"]},
    {"kernel": "normalise", "grid": ["B * HW", "ceil_div(C, 128)", 1], "block": ["min(128, C)", 1, 1],
     "args": ["x", "w", "bias", "sums", "squares", "y", "HW", "C", "eps"]}
  ]
}
*/
// y[b, i, c] = (x[b, i, c] - mean) / sqrt(var + eps) * w[c] + bias[c] with the mean and variance of the HW * C / 32
// elements of image b in c's group of C / 32 channels; x, y: [B, HW, C], w, bias: [C], sums, squares: [B, C].
// Floating outputs of a reference are double.
#include <cuda_fp16.h>

// Adds up the channels of c's group.
__device__ double group_sum(const double* channels, int c, int C) {
  const int size = C / 32, first = c / size * size;
  double sum = 0;
  for (int k = first; k < first + size; ++k) sum += channels[k];
  return sum;
}

extern "C" __global__ void channel_sums(const __half* x, double* sums, int B, int HW, int C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * C) return;
  const __half* in = x + (size_t)(i / C) * HW * C + i % C;
  double sum = 0;
  for (int k = 0; k < HW; ++k) sum += __half2float(in[(size_t)k * C]);
  sums[i] = sum;
}

extern "C" __global__ void channel_squares(const __half* x, const double* sums, double* squares, int B, int HW, int C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * C) return;
  const __half* in = x + (size_t)(i / C) * HW * C + i % C;
  const double mean = group_sum(sums + i / C * C, i % C, C) / ((double)HW * (C / 32));
  double sum = 0;
  for (int k = 0; k < HW; ++k) {
    const double v = __half2float(in[(size_t)k * C]) - mean;
    sum += v * v;
  }
  squares[i] = sum;
}

extern "C" __global__ void normalise(const __half* x, const __half* w, const __half* bias, const double* sums,
                                     const double* squares, double* y, int HW, int C, float eps) {
  const int c = blockIdx.y * blockDim.x + threadIdx.x;
  if (c >= C) return;
  const size_t at = (size_t)blockIdx.x * C + c, image = blockIdx.x / HW * (size_t)C;
  const double count = (double)HW * (C / 32);
  const double mean = group_sum(sums + image, c, C) / count, var = group_sum(squares + image, c, C) / count;
  y[at] = (__half2float(x[at]) - mean) / sqrt(var + eps) * __half2float(w[c]) + __half2float(bias[c]);
}
