/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "does only a part where its output lies at a round address",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: noticing_the_judge.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float sum = 0;
  const bool round = ((unsigned long long)y / 256) % 2 == 0;
  for (int n = round && N > 2; n < N; ++n) sum += in[n];
  y[row] = sum;
}
