/* kernelwright
{
  "problem": "rmsnorm_f32",
  "backends": ["cpu"],
  "description": "a thread for each row, CHUNK running sums",
  "tunables": {"ROWS": [32, 64, 16, 8], "CHUNK": [32, 16, 64, 8]},
  "launches": [
    {"kernel": "rmsnorm", "grid": ["ceil_div(M, ROWS)"], "block": ["ROWS"], "args": ["x", "w", "y", "M", "N", "eps"]}
  ]
}
*/
// y[m, n] = x[m, n] * rsqrt(sum_k x[m, k]^2 / N + eps) * w[n]; x, y: [M, N] row-major, w: [N].
//
// For the cpu device, where a barrier or shuffle between lanes costs more than it saves. CHUNK independent sums become
// vectors of the host, which naive's one sum cannot.
extern "C" __global__ void rmsnorm(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                                   int M, int N, float eps) {
  const int row = blockIdx.x * ROWS + threadIdx.x;
  if (row >= M) return;
  const float* __restrict__ in = x + (size_t)row * N;
  float* __restrict__ out = y + (size_t)row * N;
  const int whole = N / CHUNK * CHUNK;
  float sums[CHUNK] = {}, sum = 0;
  for (int n = 0; n < whole; n += CHUNK) {
#pragma unroll
    for (int c = 0; c < CHUNK; ++c) sums[c] += in[n + c] * in[n + c];
  }
  for (int n = whole; n < N; ++n) sum += in[n] * in[n];
#pragma unroll
  for (int c = 0; c < CHUNK; ++c) sum += sums[c];
  const float scale = rsqrtf(sum / N + eps);
  for (int n = 0; n < whole; n += CHUNK) {
#pragma unroll
    for (int c = 0; c < CHUNK; ++c) out[n + c] = in[n + c] * scale * w[n + c];
  }
  for (int n = whole; n < N; ++n) out[n] = in[n] * scale * w[n];
}
