/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element",
  "launches": [
    {"kernel": "vector_add", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// y[i] = a[i] + b[i]; a, b, y: [N].
extern "C" __global__ void vector_add(const float* a, const float* b, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = a[i] + b[i];
}
