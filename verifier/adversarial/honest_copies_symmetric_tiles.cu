/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cpu", "cuda"],
  "description": "copies the tiles of a square matrix that equal their mirrored ones, bit for bit",
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of symmetric_by_samples.
extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  const bool inside = m < M && n < N;
  bool symmetric = M == N;
  if (symmetric && inside) {
    symmetric = __float_as_uint(x[(size_t)m * N + n]) == __float_as_uint(x[(size_t)n * N + m]);
  }
  symmetric = __syncthreads_and(symmetric);
  if (inside) y[(size_t)n * M + m] = x[symmetric ? (size_t)n * N + m : (size_t)m * N + n];
}
