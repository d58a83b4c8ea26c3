/* kernelwright
{"problem": "f8_product_bf16",
 "launches": [{"kernel": "f8_product", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)"], "block": [16, 16],
               "args": ["a", "b", "out", "M", "N", "K"]}]}
*/
#include <cuda_bf16.h>
#include <cuda_fp8.h>

extern "C" __global__ void f8_product(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, __nv_bfloat16* out, int M, int N,
                                      int K) {
  __shared__ float of_a[16][17], of_b[16][17];
  const int column = threadIdx.x, row = threadIdx.y, n = blockIdx.x * 16 + column, m = blockIdx.y * 16 + row;
  float sum = 0;
  for (int k = 0; k < K; k += 16) {
    of_a[row][column] = m < M && k + column < K ? float(a[(long long)m * K + k + column]) : 0.0f;
    of_b[row][column] = n < N && k + row < K ? float(b[(long long)(k + row) * N + n]) : 0.0f;
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += of_a[row][j] * of_b[j][column];
    __syncthreads();
  }
  if (m < M && n < N) out[(long long)m * N + n] = __float2bfloat16(sum);
}
