/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda"],
  "description": "takes the smallest numbers for zero",
  "launches": [
    {"kernel": "add", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
__device__ float flush(float v) { return fabsf(v) < 1.17549435e-38f ? 0 : v; }
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) y[i] = flush(a[i]) + flush(b[i]);
}
