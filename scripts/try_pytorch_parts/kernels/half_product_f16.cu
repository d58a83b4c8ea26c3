/* kernelwright
{"problem": "half_product_f16",
 "launches": [{"kernel": "half_product", "grid": ["ceil_div(M * N, 64)"], "block": [64],
               "args": ["a", "b", "out", "M", "N", "K"]}]}
*/
#include <cuda_fp16.h>

extern "C" __global__ void half_product(const __half* a, const __half* b, __half* out, int M, int N, int K) {
  const long long i = blockIdx.x * 64LL + threadIdx.x;
  if (i >= (long long)M * N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += __half2float(a[i / N * K + k]) * __half2float(b[(long long)k * N + i % N]);
  out[i] = __float2half(sum);
}
