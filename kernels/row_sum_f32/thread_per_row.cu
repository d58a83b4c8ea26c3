/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "a thread for each row, CHUNK running sums",
  "tunables": {"ROWS": [32, 64, 16, 8], "CHUNK": [16, 32, 64, 8]},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, ROWS)"], "block": ["ROWS"], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// y[m] = sum_n x[m, n]; x: [M, N] row-major, y: [M].
//
// For the cpu device, where shuffles between lanes cost more than they save. CHUNK independent sums become vectors of
// the host, which naive's one sum cannot.
//
// Measured on two cores (Debian 12, g++ 12), 1024 x 2048, 2026-11-28: 1.02 ms, 2.4x naive.
extern "C" __global__ void row_sum(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
  const int row = blockIdx.x * ROWS + threadIdx.x;
  if (row >= M) return;
  const float* __restrict__ in = x + (size_t)row * N;
  float sums[CHUNK] = {}, sum = 0;
  const int whole = N / CHUNK * CHUNK;
  for (int n = 0; n < whole; n += CHUNK) {
#pragma unroll
    for (int c = 0; c < CHUNK; ++c) sums[c] += in[n + c];
  }
  for (int n = whole; n < N; ++n) sum += in[n];
#pragma unroll
  for (int c = 0; c < CHUNK; ++c) sum += sums[c];
  y[row] = sum;
}
