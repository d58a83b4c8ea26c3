/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda"],
  "description": "writes the first half and trusts that the last launch left the rest",
  "launches": [
    {"kernel": "add", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: not_written.
// On cuda: not_written.
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < (N + 1) / 2) y[i] = a[i] + b[i];
}
