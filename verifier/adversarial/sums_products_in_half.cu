/* kernelwright
{
  "problem": "gemm_f16",
  "backends": ["cpu", "cuda"],
  "description": "keeps the sums of so many products in half precision, as tensor cores with half accumulators do",
  "tunables": {"PRODUCTS": [64, 256]},
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result or wrong_non_finite.
// On cuda: wrong_result or wrong_non_finite.
#include <cuda_fp16.h>
extern "C" __global__ void gemm(const __half* a, const __half* b, __half* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  float total = 0;
  for (int begin = 0; begin < K; begin += PRODUCTS) {
    __half part = __float2half(0.0f);
    for (int step = begin; step < min(begin + PRODUCTS, K); step += 16) {  // an instruction's products are added exactly
      float sum = __half2float(part);
      for (int k = step; k < min(step + 16, K); ++k) {
        sum += __half2float(a[(size_t)m * K + k]) * __half2float(b[(size_t)k * N + n]);
      }
      part = __float2half(sum);
    }
    total += __half2float(part);
  }
  c[(size_t)m * N + n] = __float2half(total);
}
