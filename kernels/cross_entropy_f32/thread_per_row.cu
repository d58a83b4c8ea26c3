/* kernelwright
{
  "problem": "cross_entropy_f32",
  "backends": ["cpu"],
  "description": "a thread for each row, exponentials of a polynomial, CHUNK at a time",
  "tunables": {"ROWS": [32, 64, 16, 8], "CHUNK": [32, 16, 64, 8]},
  "launches": [
    {"kernel": "cross_entropy", "grid": ["ceil_div(M, ROWS)"], "block": ["ROWS"],
     "args": ["logits", "targets", "loss", "M", "N"]}
  ]
}
*/
// loss[m] = log(sum_n exp(logits[m, n] - max_m)) + max_m - logits[m, targets[m]]
// logits: [M, N] row-major, targets, loss: [M].
//
// For the cpu device, where a barrier or shuffle between lanes costs more than it saves. A call of expf takes longer
// than all else that naive does; a polynomial without a branch, in loops of CHUNK, becomes vector instructions of the
// host.
//
// Measured on two cores (Debian 12, g++ 12), 64 x 4000, 2026-11-28: 387 us, 5.6x naive; 231 us, 6.3x, with CHUNK=8.

// exp(x) for x <= 0: 2^k * exp(r) with |r| <= ln 2 / 2, and a polynomial for exp(r). Of anything below -87 it is
// exp(-87), 2e-38. The comparison is of whole numbers, since one of floats may trap and therefore stays scalar.
__device__ __forceinline__ float exponential(float x) {
  const unsigned least = 0xc2ae0000, bits = __float_as_uint(x);  // least: -87
  x = __uint_as_float(bits < least ? bits : least);
  const float shifted = fmaf(x, 1.44269504f, 12582912.0f);  // k in its last bits
  const float k = shifted - 12582912.0f;
  const float r = fmaf(k, -1.42860677e-6f, fmaf(k, -0.693145752f, x));
  float p = fmaf(r, 1.0f / 720, 1.0f / 120);
  p = fmaf(p, r, 1.0f / 24);
  p = fmaf(p, r, 1.0f / 6);
  p = fmaf(p, r, 0.5f);
  p = fmaf(p, r, 1.0f);
  p = fmaf(p, r, 1.0f);
  return __int_as_float(__float_as_int(p) + (__float_as_int(shifted) << 23));
}

__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }

extern "C" __global__ void cross_entropy(const float* __restrict__ logits, const int* __restrict__ targets,
                                         float* __restrict__ loss, int M, int N) {
  const int m = blockIdx.x * ROWS + threadIdx.x;
  if (m >= M) return;
  const float* __restrict__ row = logits + (size_t)m * N;
  const int whole = N / CHUNK * CHUNK;
  float tops[CHUNK], sums[CHUNK] = {};
  float top = row[0], sum = 0;
#pragma unroll
  for (int c = 0; c < CHUNK; ++c) tops[c] = top;
  for (int n = 0; n < whole; n += CHUNK) {
#pragma unroll
    for (int c = 0; c < CHUNK; ++c) tops[c] = larger(row[n + c], tops[c]);
  }
  for (int n = whole; n < N; ++n) top = larger(row[n], top);
#pragma unroll
  for (int c = 0; c < CHUNK; ++c) top = larger(tops[c], top);
  for (int n = 0; n < whole; n += CHUNK) {
#pragma unroll
    for (int c = 0; c < CHUNK; ++c) sums[c] += exponential(row[n + c] - top);
  }
  for (int n = whole; n < N; ++n) sum += exponential(row[n] - top);
#pragma unroll
  for (int c = 0; c < CHUNK; ++c) sum += sums[c];
  loss[m] = logf(sum) + top - row[targets[m]];
}
