/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "description": "two warps meet at a named barrier of PTX",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cuda: correct.
// The twin of a barrier whose threads never come.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) sum += in[n];
  part[threadIdx.x] = sum;
  asm volatile("bar.sync 1, 64;" ::: "memory");
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 64; ++i) sum += part[i];
  y[blockIdx.x] = sum;
}
