/* kernelwright
{
  "problem": "gemm_f16",
  "backends": ["cpu", "hip"],
  "description": "AMD's matrix cores through MFMA, tiles in double-buffered shared memory, b kept transposed",
  "tunables": {"BM": [64, 32, 128], "BN": [64, 32, 128], "BK": [32, 16, 64], "WM": [32, 16, 64], "WN": [32, 16, 64]},
  "constraints": ["BM % WM == 0", "BN % WN == 0", "(BM / WM) * (BN / WN) <= 16",
                  "BM * BK % (512 * (BM / WM) * (BN / WN)) == 0", "BN * BK % (512 * (BM / WM) * (BN / WN)) == 0",
                  "4 * (BM + BN) * (BK + 8) <= 65536"],
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, BN)", "ceil_div(M, BM)", 1],
     "block": ["64 * (BM / WM) * (BN / WN)", 1, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// A block makes a BM x BN tile of c in steps of BK along k; 64 threads make WM x WN of it as 16 x 16 fragments with
// fp32 accumulators. While they multiply one pair of tiles in shared memory the next pair is already on its way to
// registers, and goes into the other buffer afterwards: one barrier per step. The tile of b is kept transposed, so that
// the four neighbouring k which a lane gives to an MFMA are one load of 8 bytes for both tiles. Tiles that reach over an
// edge are filled up with zeros; rows that are not aligned to 16 bytes are read element by element. Where the processor
// has no MFMA (RDNA), each of the 64 threads computes the same elements with multiply-adds.
//
// Not measured: no AMD GPU was at hand.
#include <cuda_fp16.h>

#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx942__) || defined(__gfx950__)
#define HAS_MFMA 1
#else
#define HAS_MFMA 0
#endif

constexpr int kAcross = BN / WN;
constexpr int kThreads = 64 * (BM / WM) * kAcross;
constexpr int kRowsOf16 = WM / 16, kColumnsOf16 = WN / 16;
constexpr int kLoadsA = BM * BK / (8 * kThreads), kLoadsB = BN * BK / (8 * kThreads);  // 16 bytes each, per thread

struct __align__(16) Eight {
  __half value[8];
};

struct __align__(16) Tiles {
  __half a[BM][BK + 8];
  __half b[BN][BK + 8];  // [n][k]
};

// A thread's share of the next pair of tiles.
struct Share {
  Eight a[kLoadsA], b[kLoadsB];
};

// Rows 4 * (lane / 16) and the next three of column lane % 16 of a fragment.
typedef float Sums __attribute__((vector_size(16)));

// Eight elements of a row-major [rows, columns] matrix from (row, column), zero outside it.
__device__ __forceinline__ Eight load8(const __half* __restrict__ from, int row, int column, int rows, int columns) {
  Eight eight;
#pragma unroll
  for (int j = 0; j < 8; ++j) eight.value[j] = __float2half(0.0f);
  if (row >= rows || column >= columns) return eight;
  const __half* at = from + (size_t)row * columns + column;
  if (columns % 8 == 0) return *(const Eight*)at;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    if (column + j < columns) eight.value[j] = at[j];
  }
  return eight;
}

__device__ __forceinline__ void load_share(Share& share, const __half* __restrict__ a, const __half* __restrict__ b,
                                           int m0, int n0, int k0, int M, int N, int K) {
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    const int index = threadIdx.x + i * kThreads;
    share.a[i] = load8(a, m0 + index / (BK / 8), k0 + index % (BK / 8) * 8, M, K);
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    const int index = threadIdx.x + i * kThreads;
    share.b[i] = load8(b, k0 + index / (BN / 8), n0 + index % (BN / 8) * 8, K, N);
  }
}

__device__ __forceinline__ void store_share(Tiles& tiles, const Share& share) {
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    const int index = threadIdx.x + i * kThreads;
    *(Eight*)&tiles.a[index / (BK / 8)][index % (BK / 8) * 8] = share.a[i];
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    const int index = threadIdx.x + i * kThreads;
#pragma unroll
    for (int j = 0; j < 8; ++j) tiles.b[index % (BN / 8) * 8 + j][index / (BN / 8)] = share.b[i].value[j];
  }
}

#if HAS_MFMA
typedef _Float16 Part __attribute__((vector_size(8)));

__device__ __forceinline__ Part part_of(const __half* at) {
  Part part;
  __builtin_memcpy(&part, at, sizeof part);
  return part;
}

// `lane`: of the 64 threads, which are one wavefront.
__device__ __forceinline__ void multiply(Sums (&sums)[kRowsOf16][kColumnsOf16], const Tiles& tiles, int row, int column,
                                         int lane) {
#pragma unroll
  for (int k = 0; k < BK; k += 16) {
    Part right[kColumnsOf16];
#pragma unroll
    for (int j = 0; j < kColumnsOf16; ++j) right[j] = part_of(&tiles.b[column + 16 * j + lane % 16][k + lane / 16 * 4]);
#pragma unroll
    for (int i = 0; i < kRowsOf16; ++i) {
      const Part left = part_of(&tiles.a[row + 16 * i + lane % 16][k + lane / 16 * 4]);
#pragma unroll
      for (int j = 0; j < kColumnsOf16; ++j) {
        sums[i][j] = __builtin_amdgcn_mfma_f32_16x16x16f16(left, right[j], sums[i][j], 0, 0, 0);
      }
    }
  }
}
#else
__device__ __forceinline__ void multiply(Sums (&sums)[kRowsOf16][kColumnsOf16], const Tiles& tiles, int row, int column,
                                         int lane) {
  for (int k = 0; k < BK; ++k) {
#pragma unroll
    for (int j = 0; j < kColumnsOf16; ++j) {
      const float right = __half2float(tiles.b[column + 16 * j + lane % 16][k]);
#pragma unroll
      for (int i = 0; i < kRowsOf16; ++i) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          sums[i][j][r] += __half2float(tiles.a[row + 16 * i + lane / 16 * 4 + r][k]) * right;
        }
      }
    }
  }
}
#endif

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const __half* __restrict__ a, const __half* __restrict__ b, __half* __restrict__ c, int M, int N, int K) {
  __shared__ Tiles tiles[2];
  const int patch = threadIdx.x / 64, lane = threadIdx.x % 64;
  const int row = patch / kAcross * WM, column = patch % kAcross * WN;  // of the 64 threads, in the block's tile
  const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  const int steps = (K + BK - 1) / BK;

  Sums sums[kRowsOf16][kColumnsOf16] = {};
  Share share;
  load_share(share, a, b, m0, n0, 0, M, N, K);
  store_share(tiles[0], share);
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const bool more = step + 1 < steps;
    if (more) load_share(share, a, b, m0, n0, (step + 1) * BK, M, N, K);
    multiply(sums, tiles[step % 2], row, column, lane);
    if (more) store_share(tiles[(step + 1) % 2], share);
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < kRowsOf16; ++i) {
#pragma unroll
    for (int j = 0; j < kColumnsOf16; ++j) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int m = m0 + row + 16 * i + lane / 16 * 4 + r, n = n0 + column + 16 * j + lane % 16;
        if (m < M && n < N) c[(size_t)m * N + n] = __float2half(sums[i][j][r]);
      }
    }
  }
}
