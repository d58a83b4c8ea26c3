/* kernelwright
{
  "problem": "layernorm_f32",
  "backends": ["cpu"],
  "description": "a thread for each row, CHUNK running sums",
  "tunables": {"ROWS": [32, 64, 16, 8], "CHUNK": [32, 16, 64, 8]},
  "launches": [
    {"kernel": "layernorm", "grid": ["ceil_div(M, ROWS)"], "block": ["ROWS"],
     "args": ["x", "gamma", "beta", "y", "M", "N"]}
  ]
}
*/
// y[m, n] = (x[m, n] - mean_m) / sqrt(var_m + 1e-5) * gamma[n] + beta[n]
// x, y: [M, N] row-major, gamma, beta: [N].
//
// For the cpu device, where a barrier or shuffle between lanes costs more than it saves. CHUNK independent sums
// become vectors of the host, which naive's one sum cannot. The mean comes first, so a large offset costs no digits.
//
// Measured on two cores (Debian 12, g++ 12), 512 x 1024, 2026-11-28: 673 us, 3.1x naive.
template <typename Term>
__device__ __forceinline__ float sum_of(int N, const Term& term) {
  float sums[CHUNK] = {}, sum = 0;
  const int whole = N / CHUNK * CHUNK;
  for (int n = 0; n < whole; n += CHUNK) {
#pragma unroll
    for (int c = 0; c < CHUNK; ++c) sums[c] += term(n + c);
  }
  for (int n = whole; n < N; ++n) sum += term(n);
#pragma unroll
  for (int c = 0; c < CHUNK; ++c) sum += sums[c];
  return sum;
}

extern "C" __global__ void layernorm(const float* __restrict__ x, const float* __restrict__ gamma,
                                     const float* __restrict__ beta, float* __restrict__ y, int M, int N) {
  const int row = blockIdx.x * ROWS + threadIdx.x;
  if (row >= M) return;
  const float* __restrict__ in = x + (size_t)row * N;
  float* __restrict__ out = y + (size_t)row * N;
  const float mean = sum_of(N, [&](int n) { return in[n]; }) / N;
  const float squares = sum_of(N, [&](int n) {
    const float off = in[n] - mean;
    return off * off;
  });
  const float scale = 1 / sqrtf(squares / N + 1e-5f);
  const auto write = [&](int n) { out[n] = (in[n] - mean) * scale * gamma[n] + beta[n]; };
  const int whole = N / CHUNK * CHUNK;
  for (int n = 0; n < whole; n += CHUNK) {
#pragma unroll
    for (int c = 0; c < CHUNK; ++c) write(n + c);
  }
  for (int n = whole; n < N; ++n) write(n);
}
