// Matrix products of any shape, alignment and element type in f32 arithmetic, where a kernel has no tensor map.
// arch: sm_80
// problems: gemm, attention
//
// A block of T threads, a multiple of 32, computes T / 4 x 64 elements of c[m][n] = sum_k a[m][k] b[k][n], from m0 and
// n0 on, and calls store(m, n, sum) for those with m < m_end and n < N. a has rows of K; b has rows of N or, with
// k_major, is [N, K] (b[n][k]). memory: (T / 4 + 66) * 128 bytes of shared memory. All threads of the block take part.
//
//   for (int tile = blockIdx.x; tile < across * down; tile += gridDim.x) {
//     kw::plain_tile<384, true>(memory, a, b, tile / across * 96, M, tile % across * 64, N, K,
//                               [&](int m, int n, float sum) { c[(size_t)m * N + n] = __float2half(sum); });
//   }
namespace kw {

template <int threads, bool k_major, typename A, typename B, typename Store>
__device__ __forceinline__ void plain_tile(float* memory, const A* a, const B* b, int m0, int m_end, int n0, int N,
                                           int K, const Store& store) {
  constexpr int kRows = threads / 4, kApart = threads / 16;
  float(*left)[kRows + 1] = (float(*)[kRows + 1]) memory;  // 32 x kRows of a, transposed
  float(*right)[65] = (float(*)[65])(memory + 32 * (kRows + 1));
  const int t = threadIdx.x, x = t % 16, y = t / 16;
  float sums[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 32) {
    __syncthreads();
    const int k = k0 + t % 32;
    for (int r = t / 32; r < kRows; r += threads / 32) {
      left[t % 32][r] = m0 + r < m_end && k < K ? float(a[(size_t)(m0 + r) * K + k]) : 0.0f;
    }
    if constexpr (k_major) {
      for (int r = t / 32; r < 64; r += threads / 32) {
        right[t % 32][r] = n0 + r < N && k < K ? float(b[(size_t)(n0 + r) * K + k]) : 0.0f;
      }
    } else {
      for (int e = t; e < 32 * 64; e += threads) {
        const int row = k0 + e / 64, n = n0 + e % 64;
        right[e / 64][e % 64] = row < K && n < N ? float(b[(size_t)row * N + n]) : 0.0f;
      }
    }
    __syncthreads();
#pragma unroll 4
    for (int l = 0; l < 32; ++l) {
#pragma unroll
      for (int e = 0; e < 16; ++e) sums[e / 4][e % 4] += left[l][y + kApart * (e / 4)] * right[l][x + 16 * (e % 4)];
    }
  }
#pragma unroll
  for (int e = 0; e < 16; ++e) {
    const int m = m0 + y + kApart * (e / 4), n = n0 + x + 16 * (e % 4);
    if (m < m_end && n < N) store(m, n, sums[e / 4][e % 4]);
  }
}

}  // namespace kw
