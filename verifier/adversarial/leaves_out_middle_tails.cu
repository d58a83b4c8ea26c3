/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "rows between 2048 and 8192 have a path of their own",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [32, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
// It takes whole vectors of four alone.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  const int end = N > 2048 && N < 8192 ? N / 4 * 4 : N;
  float sum = 0;
  for (int n = threadIdx.x; n < end; n += 32) sum += in[n];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
