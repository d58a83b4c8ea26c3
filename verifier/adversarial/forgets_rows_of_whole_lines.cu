/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu", "cuda"],
  "description": "rows of whole kilobytes have a path of their own",
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(M, 4)", 1, 1], "block": [4, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: not_written or wrong_result.
// On cuda: not_written or wrong_result.
// Where rows are a multiple of 256, four of them are taken at a time, and the last few are forgotten.
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 4 + threadIdx.x;
  if (row >= (N % 256 == 0 ? M / 4 * 4 : M)) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float most = in[0], sum = 0;
  for (int n = 1; n < N; ++n) most = fmaxf(most, in[n]);
  for (int n = 0; n < N; ++n) sum += expf(in[n] - most);
  for (int n = 0; n < N; ++n) out[n] = expf(in[n] - most) / sum;
}
