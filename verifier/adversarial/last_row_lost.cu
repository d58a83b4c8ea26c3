/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu", "cuda"],
  "description": "leaves out the last row of odd numbers of rows",
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: not_written.
// On cuda: not_written.
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M || (row == M - 1 && M % 2 == 1 && M > 1)) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float largest = in[0];
  for (int n = 1; n < N; ++n) largest = fmaxf(largest, in[n]);
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += expf(in[n] - largest);
  for (int n = 0; n < N; ++n) out[n] = expf(in[n] - largest) / sum;
}
