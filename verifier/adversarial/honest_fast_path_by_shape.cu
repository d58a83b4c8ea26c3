/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "one path for sizes that are multiples of its tile, another for all others",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of being right only at the listed shapes.
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  __shared__ float as[16][16], bs[16][16];
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  if (M % 16 == 0 && N % 16 == 0 && K % 16 == 0) {
    for (int k = 0; k < K; k += 16) {
      as[threadIdx.y][threadIdx.x] = a[(size_t)m * K + k + threadIdx.x];
      bs[threadIdx.y][threadIdx.x] = b[(size_t)(k + threadIdx.y) * N + n];
      __syncthreads();
      for (int i = 0; i < 16; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
      __syncthreads();
    }
    c[(size_t)m * N + n] = sum;
    return;
  }
  if (m >= M || n >= N) return;
  for (int k = 0; k < K; ++k) sum += a[(size_t)m * K + k] * b[(size_t)k * N + n];
  c[(size_t)m * N + n] = sum;
}
