/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda"],
  "description": "multiples of 64 have a path of their own",
  "launches": [
    {"kernel": "add", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of the path that takes multiples of 64 for multiples of 4096.
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const bool inside = N % 64 == 0 && i < N / 256 * 256;
  if (inside || i < N) y[i] = a[i] + b[i];
}
