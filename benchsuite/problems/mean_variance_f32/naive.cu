/* kernelwright
{
  "problem": "mean_variance_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per row, two passes with sixteen sums each",
  "launches": [
    {"kernel": "mean_variance", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "mean", "variance", "M", "N"]}
  ]
}
*/
// mean[m] = sum_n x[m, n] / N, variance[m] = sum_n (x[m, n] - mean[m])^2 / N; x: [M, N] row-major, mean, variance: [M].
//
// Sixteen sums: beside one outlier, a single running sum would lose the squares of all elements that come after it.
extern "C" __global__ void mean_variance(const float* x, float* mean, float* variance, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float sums[16] = {}, squares[16] = {};
  for (int n = 0; n < N; ++n) sums[n % 16] += in[n];
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += sums[i];
  const float middle = sum / N;
  for (int n = 0; n < N; ++n) {
    const float distance = in[n] - middle;
    squares[n % 16] += distance * distance;
  }
  float square = 0;
  for (int i = 0; i < 16; ++i) square += squares[i];
  mean[row] = middle;
  variance[row] = square / N;
}
