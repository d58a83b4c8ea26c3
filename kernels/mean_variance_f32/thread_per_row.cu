/* kernelwright
{
  "problem": "mean_variance_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread to a row, two passes with VEC independent sums",
  "tunables": {"VEC": [32, 16, 64], "BLOCK": [1, 8, 32]},
  "launches": [
    {"kernel": "mean_variance", "grid": ["ceil_div(M, BLOCK)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "mean", "variance", "M", "N"]}
  ]
}
*/
// mean[m] = sum_n x[m, n] / N, variance[m] = sum_n (x[m, n] - mean[m])^2 / N; x: [M, N] row-major, mean, variance: [M].
//
// For processors with vectors and a cache that holds a row, such as the cpu device's. The mean comes first and the
// squares are taken around it, so a large offset costs no digits. VEC sums do not wait for each other and vectorise.
extern "C" __global__ void __launch_bounds__(BLOCK)
    mean_variance(const float* __restrict__ x, float* __restrict__ mean, float* __restrict__ variance, int M, int N) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= M) return;
  const float* __restrict__ in = x + (size_t)row * N;
  const int packed = N / VEC * VEC;

  float sums[VEC] = {};
  for (int n = 0; n < packed; n += VEC) {
#pragma unroll
    for (int v = 0; v < VEC; ++v) sums[v] += in[n + v];
  }
  float sum = 0.0f;
  for (int n = packed; n < N; ++n) sum += in[n];
#pragma unroll
  for (int v = 0; v < VEC; ++v) sum += sums[v];
  const float middle = sum / N;

  float squares[VEC] = {};
  for (int n = 0; n < packed; n += VEC) {
#pragma unroll
    for (int v = 0; v < VEC; ++v) squares[v] += (in[n + v] - middle) * (in[n + v] - middle);
  }
  sum = 0.0f;
  for (int n = packed; n < N; ++n) sum += (in[n] - middle) * (in[n] - middle);
#pragma unroll
  for (int v = 0; v < VEC; ++v) sum += squares[v];
  mean[row] = middle;
  variance[row] = sum / N;
}
