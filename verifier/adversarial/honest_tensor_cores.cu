/* kernelwright
{
  "problem": "gemm_f16",
  "backends": ["cpu", "cuda"],
  "description": "whole tiles with wmma and sums in fp32, the rest one by one",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [32, 1, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of tensor cores that round what the contract keeps.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void gemm(const __half* a, const __half* b, __half* c, int M, int N, int K) {
  __shared__ __align__(32) __half as[256], bs[256];
  __shared__ __align__(32) float cs[256];
  const int m0 = blockIdx.y * 16, n0 = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) {
      const int r = i / 16, s = i % 16;
      as[i] = m0 + r < M && k0 + s < K ? a[(size_t)(m0 + r) * K + k0 + s] : __float2half(0.0f);
      bs[i] = k0 + r < K && n0 + s < N ? b[(size_t)(k0 + r) * N + n0 + s] : __float2half(0.0f);
    }
    __syncwarp();
    wmma::load_matrix_sync(fa, as, 16);
    wmma::load_matrix_sync(fb, bs, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    __syncwarp();
  }
  wmma::store_matrix_sync(cs, fc, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) {
    const int m = m0 + i / 16, n = n0 + i % 16;
    if (m < M && n < N) c[(size_t)m * N + n] = __float2half(cs[i]);
  }
}
