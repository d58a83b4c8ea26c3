/* kernelwright
{
  "problem": "copy_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element",
  "launches": [
    {"kernel": "copy", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// y[i] = x[i]; x, y: [N].
extern "C" __global__ void copy(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = x[i];
}
