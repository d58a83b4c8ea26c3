/* kernelwright
{
  "problem": "cumsum_rows_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread to a row, four columns at a time: one addition in four waits for the one before",
  "tunables": {"BLOCK": [1, 8, 32, 64], "UNROLL": [1, 2, 4]},
  "launches": [
    {"kernel": "cumsum_rows", "grid": ["ceil_div(M, BLOCK)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "y", "M", "N"]}
  ]
}
*/
// y[m, n] = sum_{k <= n} x[m, k]; x, y: [M, N] row-major.
//
// For few, wide processors such as the cpu device's, where a plain running sum waits for an addition at every column.
// A thread sums four columns among themselves in two steps, then adds the sum of all columns before.
extern "C" __global__ void __launch_bounds__(BLOCK)
    cumsum_rows(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= M) return;
  const float* __restrict__ in = x + (size_t)row * N;
  float* __restrict__ out = y + (size_t)row * N;
  float carry = 0.0f;
  int n = 0;
#pragma unroll UNROLL
  for (; n + 4 <= N; n += 4) {
    const float a = in[n], b = in[n + 1], c = in[n + 2], d = in[n + 3];
    const float ab = a + b, cd = c + d;
    out[n] = carry + a;
    out[n + 1] = carry + ab;
    out[n + 2] = carry + (ab + c);
    out[n + 3] = carry + (ab + cd);
    carry += ab + cd;
  }
  for (; n < N; ++n) {
    carry += in[n];
    out[n] = carry;
  }
}
