/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu"],
  "description": "sets a variable in the first round of a loop",
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of a variable that no round sets.
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float best;
  for (int n = 0; n < N; ++n) {
    if (n == 0 || in[n] > best) best = in[n];
  }
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += expf(in[n] - best);
  for (int n = 0; n < N; ++n) out[n] = expf(in[n] - best) / sum;
}
