/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per row, three passes",
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// y[m, n] = exp(x[m, n] - max_m) / sum_k exp(x[m, k] - max_m); x, y: [M, N] row-major.
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float largest = in[0];
  for (int n = 1; n < N; ++n) largest = fmaxf(largest, in[n]);
  float sum = 0.0f;
  for (int n = 0; n < N; ++n) sum += expf(in[n] - largest);
  for (int n = 0; n < N; ++n) out[n] = expf(in[n] - largest) / sum;
}
