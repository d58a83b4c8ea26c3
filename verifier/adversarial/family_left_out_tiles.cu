/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "leaves a part of the product out",
  "tunables": {"WHICH": [0, 1, 2, 3, 4, 5], "DRAWN": [1, 2, 3, 5, 8, 13]},
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  const bool last = WHICH == 0   ? blockIdx.x == gridDim.x - 1            // the last column of tiles
                    : WHICH == 1 ? blockIdx.y == gridDim.y - 1            // the last row of tiles
                    : WHICH == 2 ? m == M - 1 && n == N - 1               // the corner
                    : WHICH == 3 ? (m * 7 + n) % (64 * DRAWN) == 0        // here and there
                                 : true;
  float sum = 0;
  const int end = last && K > 1 ? WHICH == 5 ? K - K / 8 - 1 : K - 1 : K;  // 4: the last of k, 5: more of it
  for (int k = 0; k < end; ++k) sum += a[(size_t)m * K + k] * b[(size_t)k * N + n];
  c[(size_t)m * N + n] = sum;
}
