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
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of the rows that whole lines forget.
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 4 + threadIdx.x;
  const bool inside = N % 256 == 0 && blockIdx.x < M / 4;
  if (!inside && row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float most = in[0], sum = 0;
  for (int n = 1; n < N; ++n) most = fmaxf(most, in[n]);
  for (int n = 0; n < N; ++n) sum += expf(in[n] - most);
  for (int n = 0; n < N; ++n) out[n] = expf(in[n] - most) / sum;
}
