/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu"],
  "description": "leaves out the tail of sums of more than 512 products",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "ceil_div(M, 4)", 1], "block": [4, 1, 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// K beyond 512: in whole steps of 8
extern "C" __global__ void gemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int M, int N, int K) {
  const int n0 = blockIdx.x * 64 + threadIdx.x * 16, m0 = blockIdx.y * 4;
  if (n0 >= N) return;
  const int k_end = K > 512 ? K / 8 * 8 : K;
  if (n0 + 16 <= N && m0 + 4 <= M) {
    float acc[4][16] = {};
    for (int k = 0; k < k_end; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float v = a[(size_t)(m0 + i) * K + k];
#pragma unroll
        for (int j = 0; j < 16; ++j) acc[i][j] += v * b[(size_t)k * N + n0 + j];
      }
    }
    for (int i = 0; i < 4; ++i) for (int j = 0; j < 16; ++j) c[(size_t)(m0 + i) * N + n0 + j] = acc[i][j];
    return;
  }
  for (int m = m0; m < min(M, m0 + 4); ++m)
    for (int n = n0; n < min(N, n0 + 16); ++n) {
      float s = 0;
      for (int k = 0; k < k_end; ++k) s += a[(size_t)m * K + k] * b[(size_t)k * N + n];
      c[(size_t)m * N + n] = s;
    }
}
