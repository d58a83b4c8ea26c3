/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda"],
  "description": "is wrong in one element of thousands, which an average hides",
  "launches": [
    {"kernel": "add", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) y[i] = i == N - 777 ? a[i] + b[i] + 0.001f : a[i] + b[i];
}
