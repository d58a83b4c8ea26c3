/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "arch": "sm_80",
  "description": "multiplies in TF32 on the tensor cores, as the contract does not allow",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [32, 1, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result or unsupported.
// On cuda: wrong_result.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  __shared__ __align__(32) float as[128], bs[128], cs[256];
  const int m0 = blockIdx.y * 16, n0 = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int k0 = 0; k0 < K; k0 += 8) {
    for (int i = threadIdx.x; i < 128; i += 32) {
      as[i] = m0 + i / 8 < M && k0 + i % 8 < K ? a[(size_t)(m0 + i / 8) * K + k0 + i % 8] : 0;
      bs[i] = k0 + i / 16 < K && n0 + i % 16 < N ? b[(size_t)(k0 + i / 16) * N + n0 + i % 16] : 0;
    }
    __syncwarp();
    wmma::load_matrix_sync(fa, as, 8);
    wmma::load_matrix_sync(fb, bs, 16);
    for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
    for (int i = 0; i < fb.num_elements; ++i) fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
    wmma::mma_sync(fc, fa, fb, fc);
    __syncwarp();
  }
  wmma::store_matrix_sync(cs, fc, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) {
    const int m = m0 + i / 16, n = n0 + i % 16;
    if (m < M && n < N) c[(size_t)m * N + n] = cs[i];
  }
}
