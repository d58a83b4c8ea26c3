/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda"],
  "description": "loads and stores with hints for the caches",
  "launches": [
    {"kernel": "add", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of lines that are pinned in the cache.
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < N) __stcs(y + i, __ldcs(a + i) + __ldg(b + i));
}
