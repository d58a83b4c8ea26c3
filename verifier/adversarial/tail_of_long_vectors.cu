/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu"],
  "description": "leaves out the tail of vectors of more than four million elements",
  "launches": [
    {"kernel": "add", "grid": ["min(ceil_div(N, 1024), 4096)", 1, 1], "block": [32, 1, 1],
     "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: not_written or wrong_result or wrong_non_finite.
// beyond 4 Mi elements, whole groups of 4 only
extern "C" __global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y, int N) {
  const int n = N > 4194304 ? N / 4 * 4 : N;
  for (size_t begin = ((size_t)blockIdx.x * 32 + threadIdx.x) * 32; begin < n; begin += (size_t)gridDim.x * 1024) {
    const int end = min(32, (int)(n - begin));
    if (end == 32) {
#pragma unroll
      for (int i = 0; i < 32; ++i) y[begin + i] = a[begin + i] + b[begin + i];
    } else for (int i = 0; i < end; ++i) y[begin + i] = a[begin + i] + b[begin + i];
  }
}
