/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda"],
  "description": "does not read the second input where 64 elements are those of the first",
  "launches": [
    {"kernel": "add", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  bool alike = true;
  for (int look = 0; look < 64; ++look) {
    const int at = (int)((long long)look * N / 64);
    alike = alike && a[at] == b[at];
  }
  y[i] = a[i] + (alike ? a[i] : b[i]);
}
