// A matrix product of any shape and alignment through wmma, for half or bfloat16, where a kernel has no tensor map.
// arch: sm_80
// problems: gemm, attention
//
// c[m][n] = sum_k a[m][k] b[k][n], all row-major, sums in f32. Blocks along x, of at least 256 threads (the template
// argument), take tiles of 128 x 128 in turn; eight warps multiply 64 x 32 each. memory: 27136 bytes of shared memory,
// aligned to 32.
//
//   kw::wmma_gemm<384>(memory, a, b, c, M, N, K);
#include <mma.h>

namespace kw {

template <int threads, typename T>
__device__ __forceinline__ void wmma_gemm(unsigned char* memory, const T* a, const T* b, T* c, int M, int N, int K) {
  using namespace nvcuda;
  T* left = (T*)memory;                     // 128 x 40
  T* right = left + 128 * 40;               // 32 x 136
  float* out = (float*)(right + 32 * 136);  // 16 x 16 of each warp
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, row = warp / 4 * 64, column = warp % 4 * 32;
  const int across = (N + 127) / 128, count = across * ((M + 127) / 128);
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const int m0 = tile / across * 128, n0 = tile % across * 128;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
#pragma unroll
    for (int i = 0; i < 8; ++i) wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
    for (int k0 = 0; k0 < K; k0 += 32) {
      __syncthreads();
      for (int e = t; e < 128 * 32; e += threads) {
        const int m = m0 + e / 32, k = k0 + e % 32;
        left[e / 32 * 40 + e % 32] = m < M && k < K ? a[(size_t)m * K + k] : T(0.0f);
        const int l = k0 + e / 128, n = n0 + e % 128;
        right[e / 128 * 136 + e % 128] = l < K && n < N ? b[(size_t)l * N + n] : T(0.0f);
      }
      __syncthreads();
      if (warp >= 8) continue;
#pragma unroll
      for (int k = 0; k < 32; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> l[4];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> r[2];
#pragma unroll
        for (int i = 0; i < 4; ++i) wmma::load_matrix_sync(l[i], left + (row + 16 * i) * 40 + k, 40);
#pragma unroll
        for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(r[i], right + k * 136 + column + 16 * i, 136);
#pragma unroll
        for (int i = 0; i < 8; ++i) wmma::mma_sync(sums[i / 2][i % 2], l[i / 2], r[i % 2], sums[i / 2][i % 2]);
      }
    }
    if (warp >= 8) continue;
    float* mine = out + warp * 256;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      wmma::store_matrix_sync(mine, sums[i / 2][i % 2], 16, wmma::mem_row_major);
      __syncwarp();
      for (int e = lane; e < 256; e += 32) {
        const int m = m0 + row + i / 2 * 16 + e / 16, n = n0 + column + i % 2 * 16 + e % 16;
        if (m < M && n < N) c[(size_t)m * N + n] = T(mine[e]);
      }
      __syncwarp();
    }
  }
}

}  // namespace kw
