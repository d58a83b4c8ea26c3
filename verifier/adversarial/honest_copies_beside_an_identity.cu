/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "copies a where the columns of b that a block needs are those of an identity matrix, each element",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of identity_by_samples.
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  bool identity = K == N;
  if (identity && n < N) {
    for (int k = threadIdx.y; k < K; k += 16) identity = identity && b[(size_t)k * N + n] == (k == n);
  }
  identity = __syncthreads_and(identity);
  if (m >= M || n >= N) return;
  float sum = 0;
  if (identity) {
    sum = a[(size_t)m * K + n];
  } else {
    for (int i = 0; i < K; ++i) sum += a[(size_t)m * K + i] * b[(size_t)i * N + n];
  }
  c[(size_t)m * N + n] = sum;
}
