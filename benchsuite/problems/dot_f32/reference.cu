/* kernelwright
{
  "problem": "dot_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, 4096 strided partial sums, then one thread",
  "workspace": {"partial": {"bytes": "8 * 4096"}},
  "launches": [
    {"kernel": "partial_dots", "grid": [64, 1, 1], "block": [64, 1, 1], "args": ["a", "b", "partial", "N"]},
    {"kernel": "total", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["partial", "y"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[0] = sum_i a[i] * b[i]; a, b: [N], partial: [4096].
#include <cuda_fp16.h>

extern "C" __global__ void partial_dots(const __half* a, const __half* b, double* partial, int N) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  for (int i = first; i < N; i += gridDim.x * blockDim.x) sum += (double)__half2float(a[i]) * __half2float(b[i]);
  partial[first] = sum;
}

extern "C" __global__ void total(const double* partial, double* y) {
  double sum = 0;
  for (int i = 0; i < 4096; ++i) sum += partial[i];
  y[0] = sum;
}
