/* kernelwright
{
  "problem": "rmsnorm_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per row",
  "launches": [
    {"kernel": "rmsnorm", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "w", "y", "M", "N", "eps"]}
  ]
}
*/
// y[m, n] = x[m, n] * rsqrt(sum_k x[m, k]^2 / N + eps) * w[n]; x, y: [M, N] row-major, w: [N].
extern "C" __global__ void rmsnorm(const float* x, const float* w, float* y, int M, int N, float eps) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n] * in[n];
  const float scale = rsqrtf(sum / N + eps);
  for (int n = 0; n < N; ++n) out[n] = in[n] * scale * w[n];
}
