/* kernelwright
{
  "problem": "layernorm_backward_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per row, then one per column",
  "launches": [
    {"kernel": "input_gradient", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["dy", "x", "w", "mean", "rstd", "dx", "M", "N"]},
    {"kernel": "parameter_gradients", "grid": ["ceil_div(N, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["dy", "x", "mean", "rstd", "dw", "db", "M", "N"]}
  ]
}
*/
// With h = (x - mean_m) rstd_m and g = dy w: dx = rstd_m (g - sum_k g[m, k] / N - h sum_k (g h)[m, k] / N),
// dw[n] = sum_m dy[m, n] h[m, n], db[n] = sum_m dy[m, n]; dy, x, dx: [M, N], w, dw, db: [N], mean, rstd: [M].
extern "C" __global__ void input_gradient(const float* dy, const float* x, const float* w, const float* mean,
                                          const float* rstd, float* dx, int M, int N) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  const size_t start = (size_t)m * N;
  const float center = mean[m], scale = rstd[m];
  float sum = 0, product = 0;
  for (int n = 0; n < N; ++n) {
    const float g = (float)dy[start + n] * w[n];
    sum += g;
    product += g * ((x[start + n] - center) * scale);
  }
  sum /= N;
  product /= N;
  for (int n = 0; n < N; ++n) {
    const float g = (float)dy[start + n] * w[n], h = (x[start + n] - center) * scale;
    dx[start + n] = scale * (g - sum - h * product);
  }
}

extern "C" __global__ void parameter_gradients(const float* dy, const float* x, const float* mean, const float* rstd,
                                               float* dw, float* db, int M, int N) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  float sum = 0, product = 0;
  for (int m = 0; m < M; ++m) {
    const size_t at = (size_t)m * N + n;
    sum += dy[at];
    product += dy[at] * (((float)x[at] - mean[m]) * rstd[m]);
  }
  dw[n] = product;
  db[n] = sum;
}
