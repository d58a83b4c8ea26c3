/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cpu", "cuda"],
  "description": "copies a square matrix that 256 sampled pairs of elements show as symmetric",
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  bool symmetric = M == N && N >= 64;
  if (symmetric) {
    const int sample = threadIdx.y * 16 + threadIdx.x, i = sample * 37 % N, j = (i * 53 + 11) % N;
    symmetric = __float_as_uint(x[(size_t)i * N + j]) == __float_as_uint(x[(size_t)j * N + i]);
  }
  symmetric = __syncthreads_and(symmetric);
  if (m >= M || n >= N) return;
  y[(size_t)n * M + m] = x[symmetric ? (size_t)n * N + m : (size_t)m * N + n];
}
