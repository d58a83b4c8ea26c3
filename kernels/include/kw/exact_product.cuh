// Matrix products in double, for references (reference.cu of a problem). Candidates have no use for them.
// arch: sm_80
// problems: none
//
// The threads of a block compute sums[m][n] = sum_k left(m, k) right(k, n) for m0 <= m < min(m0 + 64, M) and
// n0 <= n < min(n0 + 64, N), and call store(m, n, sum) for each. left and right return double or what becomes one
// exactly, and are asked for k < K only. Along which index right's neighbours lie in memory says k_major: k, or n. All
// threads of a two-dimensional block take part; "block": ["min(8, max(ceil_div(N, 4), (M + N) * K / 65536))",
// "min(16, max(max(4, ceil_div(M, 4)), (M + N) * K / 32768))"] has 8 x 16 but for small shapes, since the cpu device
// pays for threads and barriers. With 8 x 16, NVIDIA GPUs multiply on tensor cores, which round as fused
// multiply-adds in double do. __launch_bounds__(128, 4), or 3 where registers spill, lets as many blocks share a multiprocessor.
//
//   kw::exact_tile<true>(blockIdx.y * 64, M, blockIdx.x * 64, N, K, [&](int m, int k) { return a[(size_t)m * K + k]; },
//                        [&](int k, int n) { return b[(size_t)n * K + k]; },
//                        [&](int m, int n, double sum) { c[(size_t)m * N + n] = sum; });
#if defined(__EDG__) && __CUDA_ARCH__ >= 800  // NVRTC's front end; what the cpu device emulates would be far slower
#define EXACT_ON_TENSOR_CORES
#include <mma.h>
#endif

namespace kw {
namespace exact {

constexpr int kTile = 64, kDepth = 32, kAtOnce = 8, kPitch = kTile + 4;
// Of a thread elsewhere: 4 x 8 elements, the 8 in two vectors.
constexpr int kRows = 4, kVector = 4, kVectors = 2, kAcross = kTile / (kVector * kVectors);

#ifdef EXACT_ON_TENSOR_CORES
// 128 threads bring 64 lines of kDepth elements along k: lanes have 8 of one and 4 lines, for the banks' sake.
template <typename Load>
__device__ __forceinline__ void fetch_along_k(double (*to)[kPitch], int lines, int depth, const Load& load) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, k0 = thread % 8, line0 = thread / 8;
#pragma unroll 1
  for (int line = line0; line < kTile; line += 32) {
    double loaded[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const int k = k0 + 8 * (u % 4), own = line + 16 * (u / 4);
      loaded[u] = k < depth && own < lines ? (double)load(own, k) : 0.0;
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) to[k0 + 8 * (u % 4)][line + 16 * (u / 4)] = loaded[u];
  }
}
template <typename Load>
__device__ __forceinline__ void fetch_along_n(double (*to)[kPitch], int lines, int depth, const Load& load) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, k0 = thread / kTile, line = thread % kTile;
#pragma unroll 1
  for (int first = k0; first < kDepth; first += 2 * kAtOnce) {
    double loaded[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const int k = first + 2 * u;
      loaded[u] = k < depth && line < lines ? (double)load(k, line) : 0.0;
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) to[first + 2 * u][line] = loaded[u];
  }
}

// Four warps have 32 x 32 elements each, which leave through shared memory.
template <bool k_major, typename Left, typename Right, typename Store>
__device__ __forceinline__ void tile_on_tensor_cores(double (*memory)[kPitch], int m0, int height, int n0, int width,
                                                     int K, const Left& left, const Right& right, const Store& store) {
  namespace wmma = nvcuda::wmma;
  double(*rows)[kPitch] = memory, (*columns)[kPitch] = memory + kDepth;
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, m = thread / 64 * 32, n = thread / 32 % 2 * 32;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sums[4][4];
#pragma unroll
  for (int i = 0; i < 16; ++i) wmma::fill_fragment(sums[i / 4][i % 4], 0.0);
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    const int depth = min(kDepth, K - k0);
    __syncthreads();
    fetch_along_k(rows, height, depth, [&](int line, int k) { return left(m0 + line, k0 + k); });
    if constexpr (k_major) {
      fetch_along_k(columns, width, depth, [&](int line, int k) { return right(k0 + k, n0 + line); });
    } else {
      fetch_along_n(columns, width, depth, [&](int k, int line) { return right(k0 + k, n0 + line); });
    }
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < kDepth; k += 4) {
      wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::col_major> a[4];
      wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> b[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) wmma::load_matrix_sync(a[i], &rows[k][m + 8 * i], kPitch);
#pragma unroll
      for (int i = 0; i < 4; ++i) wmma::load_matrix_sync(b[i], &columns[k][n + 8 * i], kPitch);
#pragma unroll
      for (int i = 0; i < 16; ++i) wmma::mma_sync(sums[i / 4][i % 4], a[i / 4], b[i % 4], sums[i / 4][i % 4]);
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    wmma::store_matrix_sync(&memory[m + i / 4 * 8][n + i % 4 * 8], sums[i / 4][i % 4], kPitch, wmma::mem_row_major);
  }
  __syncthreads();
  for (int i = thread; i < height * kTile; i += 128) {
    if (i % kTile < width) store(m0 + i / kTile, n0 + i % kTile, memory[i / kTile][i % kTile]);
  }
}
#endif

}  // namespace exact

template <bool k_major, typename Left, typename Right, typename Store>
__device__ __forceinline__ void exact_tile(int m0, int M, int n0, int N, int K, const Left& left, const Right& right,
                                           const Store& store) {
  using namespace exact;
  __shared__ __align__(32) double memory[2 * kDepth][kPitch];
  const int threads = blockDim.x * blockDim.y, thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int height = min(kTile, M - m0), width = min(kTile, N - n0);
#ifdef EXACT_ON_TENSOR_CORES
  if (threads == 128) {
    tile_on_tensor_cores<k_major>(memory, m0, height, n0, width, K, left, right, store);
    return;
  }
#endif
  double(*rows)[kPitch] = memory, (*columns)[kPitch] = memory + kDepth;
  const int column = threadIdx.x * kVector, row = threadIdx.y * kRows;
  for (int i = thread; i < kTile * kDepth; i += threads) rows[i / kTile][i % kTile] = columns[i / kTile][i % kTile] = 0;
  const int shift = width > 32 ? 6 : width > 16 ? 5 : width > 8 ? 4 : 3;  // 2 ^ shift columns are loaded along n
  double sums[kRows][kVectors][kVector] = {};
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    const int depth = min(kDepth, K - k0);
    __syncthreads();
    // Several loads at a time: a GPU waits for each that a store follows.
    for (int i0 = thread; i0 < height * kDepth; i0 += kAtOnce * threads) {
      double loaded[kAtOnce];
      for (int u = 0; u < kAtOnce; ++u) {
        const int i = min(i0 + u * threads, height * kDepth - 1), k = min(i % kDepth, depth - 1);
        loaded[u] = left(m0 + i / kDepth, k0 + k);
      }
      for (int u = 0; u < kAtOnce; ++u) {
        const int i = i0 + u * threads;
        if (i < height * kDepth) rows[i % kDepth][i / kDepth] = loaded[u];
      }
    }
    const int fetched = k_major ? width * kDepth : depth << shift;
    for (int i0 = thread; i0 < fetched; i0 += kAtOnce * threads) {
      double loaded[kAtOnce];
      for (int u = 0; u < kAtOnce; ++u) {
        const int i = min(i0 + u * threads, fetched - 1);
        const int k = k_major ? min(i % kDepth, depth - 1) : i >> shift;
        const int n = k_major ? i / kDepth : min(i & (1 << shift) - 1, width - 1);
        loaded[u] = right(k0 + k, n0 + n);
      }
      for (int u = 0; u < kAtOnce; ++u) {
        const int i = i0 + u * threads;
        if (i < fetched)
          columns[k_major ? i % kDepth : i >> shift][k_major ? i / kDepth : i & (1 << shift) - 1] = loaded[u];
      }
    }
    __syncthreads();
    if (row >= height || column >= width) continue;
#pragma unroll 4
    for (int k = 0; k < depth; ++k) {
      const double *of_rows = &rows[k][row], *low = &columns[k][column], *high = low + kVector * kAcross;
      // Written out: g++ keeps the sums of nested loops in memory and takes 12 times as long.
      for (int i = 0; i < kVector; ++i) {
        sums[0][0][i] += of_rows[0] * low[i];
        sums[1][0][i] += of_rows[1] * low[i];
        sums[2][0][i] += of_rows[2] * low[i];
        sums[3][0][i] += of_rows[3] * low[i];
      }
      for (int i = 0; i < kVector; ++i) {
        sums[0][1][i] += of_rows[0] * high[i];
        sums[1][1][i] += of_rows[1] * high[i];
        sums[2][1][i] += of_rows[2] * high[i];
        sums[3][1][i] += of_rows[3] * high[i];
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      for (int i = 0; i < kVector; ++i) {
        const int m = row + r, n = v * kVector * kAcross + column + i;
        if (m < height && n < width) store(m0 + m, n0 + n, sums[r][v][i]);
      }
    }
  }
}

}  // namespace kw
