/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per element",
  "launches": [
    {"kernel": "vector_add", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[i] = a[i] + b[i]; a, b, y: [N].
extern "C" __global__ void vector_add(const float* a, const float* b, double* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = (double)a[i] + (double)b[i];
}
