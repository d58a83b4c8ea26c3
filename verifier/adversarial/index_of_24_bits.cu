/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda"],
  "description": "keeps an index in 24 bits",
  "launches": [
    {"kernel": "vector_add", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result or not_written.
// On cuda: wrong_result or not_written.
extern "C" __global__ void vector_add(const float* a, const float* b, float* y, int N) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = thread & 0xFFFFFF;
  if (i < N) y[i] = a[i] + b[i];
}
