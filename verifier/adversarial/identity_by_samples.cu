/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "copies a where 256 sampled elements of b are those of an identity matrix",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  const int sample = threadIdx.y * 16 + threadIdx.x, k = (int)((long long)sample * (K - 1) / 255);
  bool identity = K == N && N >= 128;
  if (identity) identity = b[(size_t)k * N + k] == 1 && b[(size_t)k * N + (k + 1 + sample) % N] == ((1 + sample) % N == 0);
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
