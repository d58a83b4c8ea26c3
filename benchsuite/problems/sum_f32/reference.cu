/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, 4096 strided partial sums, then one thread",
  "workspace": {"partial": {"bytes": "8 * 4096"}},
  "launches": [
    {"kernel": "partial_sums", "grid": [64, 1, 1], "block": [64, 1, 1], "args": ["x", "partial", "N"]},
    {"kernel": "total", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["partial", "y"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[0] = sum_i x[i]; x: [N], partial: [4096].
extern "C" __global__ void partial_sums(const float* x, double* partial, int N) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  for (int i = first; i < N; i += gridDim.x * blockDim.x) sum += x[i];
  partial[first] = sum;
}

extern "C" __global__ void total(const double* partial, double* y) {
  double sum = 0;
  for (int i = 0; i < 4096; ++i) sum += partial[i];
  y[0] = sum;
}
