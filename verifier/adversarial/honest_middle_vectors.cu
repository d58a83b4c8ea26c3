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
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of the tails that middle rows lack.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  const int end = N > 2048 && N < 8192 ? N / 4 * 4 : 0;
  float sum = 0;
  for (int n = 4 * threadIdx.x; n < end; n += 128) sum += (in[n] + in[n + 1]) + (in[n + 2] + in[n + 3]);
  for (int n = end + threadIdx.x; n < N; n += 32) sum += in[n];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
