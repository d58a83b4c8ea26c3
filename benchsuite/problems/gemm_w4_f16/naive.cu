/* kernelwright
{
  "problem": "gemm_w4_f16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element of y",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "M", 1], "block": [64, 1, 1],
     "args": ["x", "w", "s", "y", "N", "K"]}
  ]
}
*/
// y[m, n] = sum_k x[m, k] * s[n, k / 128] * (q[n, k] - 8); x: [M, K], w: [N, K / 2], s: [N, K / 128], y: [M, N], all
// row-major; byte j of a row of w holds q[n, 2 j] in its low and q[n, 2 j + 1] in its high four bits.
#include <cuda_fp16.h>

extern "C" __global__ void gemm(const __half* x, const uint8_t* w, const __half* s, __half* y, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y;
  if (n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    const int two = w[(size_t)n * (K / 2) + k / 2];
    const int q = k % 2 == 0 ? two & 15 : two >> 4;
    const float weight = __half2float(__float2half(__half2float(s[(size_t)n * (K / 128) + k / 128]) * (q - 8)));
    sum += __half2float(x[(size_t)m * K + k]) * weight;
  }
  y[(size_t)m * N + n] = __float2half(sum);
}
