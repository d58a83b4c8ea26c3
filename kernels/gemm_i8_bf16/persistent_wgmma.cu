/* kernelwright
{
  "problem": "gemm_i8_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent TMA and int8 wgmma, 128 x COLUMNS tiles, results leave by TMA under the next tile",
  "tunables": {"COLUMNS": [256, 128], "STAGES": [4, 3, 6], "CLUSTER": [1, 2], "BAND": [16, 8, 4],
               "BLOCKS": [128, 132]},
  "constraints": ["STAGES * (128 + COLUMNS) * 128 + 35072 <= 232448"],
  "tensor_maps": {
    "a_map": {"tensor": "a", "box": [128, "128 / CLUSTER"], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 16 == 0) * (N % 8 == 0)"},
    "b_map": {"tensor": "b", "box": [128, "COLUMNS / CLUSTER"], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 16 == 0) * (N % 8 == 0)"},
    "c_map": {"tensor": "c", "box": [64, 64], "swizzle": 128, "when": "(K % 16 == 0) * (N % 8 == 0)"}
  },
  "launches": [
    {"kernel": "gemm", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1], "cluster": ["CLUSTER", 1, 1],
     "shared_bytes": "STAGES * (128 + COLUMNS) * 128 + 33792",
     "args": ["a_map", "b_map", "c_map", "a", "b", "scale_a", "scale_b", "c", "M", "N", "K",
              "(K % 16 == 0) * (N % 8 == 0)"]}
  ]
}
*/
// c[m, n] = scale_a[m] * scale_b[n] * sum_k a[m, k] * b[n, k]; a: [M, K], b: [N, K], c: [M, N], all row-major.
//
// BLOCKS blocks stay on the device and take 128 x COLUMNS tiles of c in turn, in bands of BAND tiles along m. One
// thread fetches tiles of a and b by TMA, STAGES steps of 128 along k ahead, also into the next tile of c. Two
// warpgroups multiply them with wgmma, 64 x COLUMNS of c each, in exact int32 sums that stay in the tensor cores'
// registers for all of K. A warpgroup whose rows lie below c multiplies nothing: at M <= 64 that halves the products.
// Results are scaled in fp32, pass through 16 KiB of shared memory a warpgroup (stmatrix), and TMA writes them while
// the next tile is multiplied. Scales are loaded before the products and wait in registers.
// In a cluster of two, the blocks own neighbours along m and each fetches half of b for both; where c has only one
// row of tiles (M <= 128), they own neighbours along n and share a.
// Shapes whose rows are not aligned to 16 bytes have no tensor maps and take mma.sync on tiles that threads load.
//
// Measured on one H200 on 2026-11-27, cold caches, median: 136.8 us at 4096x6144x4096, 86 % of the bound, and 40.7 us
// at 64x28672x4096, 65 %, with BAND=16 CLUSTER=1 COLUMNS=256 STAGES=4.
#include <cuda.h>
#include <cuda_bf16.h>
#include <kw/cluster.cuh>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int kRows = 128, kDepth = 128;  // of a tile of c; of a step along k
constexpr int kBox = 64 * 128, kBytesA = kRows * kDepth, kBytes = kBytesA + COLUMNS * kDepth;
constexpr int kPieces = COLUMNS / 64;  // of a warpgroup's results

// wgmma of int8, which <kw/wgmma.cuh> does not have: d[m][n] = [d +] sum_k a[m][k] b[k][n] for 64 x 32 by 32 x COLUMNS,
// both with k contiguous. Sums are int32 in the layout of kw::wgmma, here as unsigned words for settle().
// clang-format off
#define TO_10(i) "%" #i "0, %" #i "1, %" #i "2, %" #i "3, %" #i "4, %" #i "5, %" #i "6, %" #i "7, %" #i "8, %" #i "9"
#define TO_64                                                                                                         \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " TO_10(1) ", " TO_10(2) ", " TO_10(3) ", " TO_10(4) ", "                  \
  TO_10(5) ", %60, %61, %62, %63"
#define TO_128                                                                                                        \
  TO_64 ", %64, %65, %66, %67, %68, %69, " TO_10(7) ", " TO_10(8) ", " TO_10(9) ", " TO_10(10) ", "                   \
  TO_10(11) ", %120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS_8(i)                                                                                                     \
  "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), "+r"(d[i + 6]),         \
      "+r"(d[i + 7])
#define SUMS_32(i) SUMS_8(i), SUMS_8(i + 8), SUMS_8(i + 16), SUMS_8(i + 24)
#define SUMS_64(i) SUMS_32(i), SUMS_32(i + 32)

__device__ __forceinline__ void multiply(unsigned (&d)[64], unsigned long long a, unsigned long long b, int add) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 {" TO_64 "}, %64, %65, p;\n}"
               : SUMS_64(0) : "l"(a), "l"(b), "r"(add));
}
__device__ __forceinline__ void multiply(unsigned (&d)[128], unsigned long long a, unsigned long long b, int add) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {" TO_128 "}, %128, %129, p;\n}"
               : SUMS_64(0), SUMS_64(64) : "l"(a), "l"(b), "r"(add));
}
// clang-format on

// Two results of a row, scaled and rounded.
__device__ __forceinline__ unsigned scaled_pair(const unsigned* sums, float of_row, float2 of_columns) {
  return pack_bf16(of_row * of_columns.x * (float)(int)sums[0], of_row * of_columns.y * (float)(int)sums[1]);
}

// 64 x COLUMNS results of a warpgroup, in pieces of 64 columns and two buffers. Thread t brings the scales of columns
// t and t + 128; those of a piece pass through `scales`.
__device__ __forceinline__ void store(const unsigned (&sums)[COLUMNS / 2], float upper, float lower,
                                      const float (&right)[COLUMNS / 128], float (&scales)[2][64],
                                      const CUtensorMap* c_map, unsigned buffers, int m, int n) {
  const int group = threadIdx.x / 128, t = threadIdx.x % 128, row = t / 32 * 16 + t % 16, high = t % 32 / 16;
#pragma unroll
  for (int q = 0; q < kPieces; ++q) {
    const unsigned buffer = buffers + q % 2 * kBox;
    if (t == 0) tma::wait_read<1>();  // the buffer has been read
    if (t / 64 == q % 2) scales[q % 2][t % 64] = right[q / 2];
    warpgroup::sync<128>(1 + group);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const unsigned* d = sums + 32 * q + 8 * j;
      const float2 first = *(const float2*)&scales[q % 2][16 * j + t % 4 * 2];
      const float2 second = *(const float2*)&scales[q % 2][16 * j + 8 + t % 4 * 2];
      store_matrices(buffer + swizzled(row, 2 * j + high), scaled_pair(d, upper, first),
                     scaled_pair(d + 2, lower, first), scaled_pair(d + 4, upper, second),
                     scaled_pair(d + 6, lower, second));
    }
    tma::fence();
    warpgroup::sync<128>(1 + group);
    if (t == 0) {
      tma::store(c_map, n + 64 * q, m, buffer);
      tma::commit();
    }
  }
}

__device__ __forceinline__ void multiply_tiles(const CUtensorMap* a_map, const CUtensorMap* b_map,
                                               const CUtensorMap* c_map, const float* __restrict__ scale_a,
                                               const float* __restrict__ scale_b, float (&scales)[2][2][64],
                                               unsigned memory, unsigned full, unsigned empty, int M, int N, int K) {
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32, rank = blockIdx.x % CLUSTER;
  const bool beside = CLUSTER > 1 && M <= kRows;  // blocks of a cluster are neighbours along n
  const int unit_rows = beside ? kRows : kRows * CLUSTER, unit_columns = beside ? COLUMNS * CLUSTER : COLUMNS;
  const int steps = (K + kDepth - 1) / kDepth, across = (N + unit_columns - 1) / unit_columns;
  const int down = (M + unit_rows - 1) / unit_rows;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier::init(full + 8 * s, 1);
      mbarrier::init(empty + 8 * s, 8 * CLUSTER);  // warps
    }
    mbarrier::fence_init();
  }
  cluster::sync<CLUSTER>();

  const auto place = [&](int tile, int& m0, int& n0) {
    constexpr int kBand = BAND / CLUSTER;
    const int band = tile / (kBand * across), within = tile % (kBand * across);
    const int rows = min(kBand, down - band * kBand);
    m0 = (band * kBand + within % rows) * unit_rows + (beside ? 0 : rank * kRows);
    n0 = within / rows * unit_columns + (beside ? rank * COLUMNS : 0);
  };
  Ring<STAGES> ring;
  int m0, n0;
  if (group == 2) {
    warpgroup::keep_registers<40>();
    if (threadIdx.x == 256) {  // the producer
      constexpr int kRowsOfBox = kRows / CLUSTER, kColumnsOfBox = COLUMNS / CLUSTER;
      for (int tile = blockIdx.x / CLUSTER; tile < down * across; tile += gridDim.x / CLUSTER) {
        place(tile, m0, n0);
        for (int step = 0; step < steps; ++step) {
          const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * kBytes;
          const int k0 = step * kDepth;
          mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
          mbarrier::expect(barrier, kBytes);
          if (beside) {
            tma::load_multicast<CLUSTER>(to + rank * kRowsOfBox * kDepth, a_map, k0, m0 + rank * kRowsOfBox, barrier);
#pragma unroll
            for (int i = 0; i < CLUSTER; ++i) {
              tma::load(to + kBytesA + i * kColumnsOfBox * kDepth, b_map, k0, n0 + i * kColumnsOfBox, barrier);
            }
          } else {
#pragma unroll
            for (int i = 0; i < CLUSTER; ++i) {
              tma::load(to + i * kRowsOfBox * kDepth, a_map, k0, m0 + i * kRowsOfBox, barrier);
            }
            tma::load_multicast<CLUSTER>(to + kBytesA + rank * kColumnsOfBox * kDepth, b_map, k0,
                                         n0 + rank * kColumnsOfBox, barrier);
          }
          ring.advance();
        }
      }
    }
  } else {
    warpgroup::take_registers<232>();
    const unsigned buffers = memory + STAGES * kBytes + group * 2 * kBox;
    const int t = threadIdx.x % 128;
    unsigned sums[COLUMNS / 2];
    for (int tile = blockIdx.x / CLUSTER; tile < down * across; tile += gridDim.x / CLUSTER) {
      place(tile, m0, n0);
      m0 += 64 * group;
      const bool owns_any = m0 < M && n0 < N;
      const int row = m0 + t / 32 * 16 + lane / 4;
      const float upper = row < M ? __ldg(scale_a + row) : 0.0f, lower = row + 8 < M ? __ldg(scale_a + row + 8) : 0.0f;
      float right[COLUMNS / 128];
#pragma unroll
      for (int i = 0; i < COLUMNS / 128; ++i) {
        right[i] = n0 + t + 128 * i < N ? __ldg(scale_b + n0 + t + 128 * i) : 0.0f;
      }
      if (!owns_any) {  // it only gives the stages back
        for (int step = 0; step < steps; ++step) {
          mbarrier::wait(full + 8 * ring.stage, ring.phase);
          __syncwarp();
          if (lane < CLUSTER) mbarrier::arrive_at<CLUSTER>(empty + 8 * ring.stage, lane);
          ring.advance();
        }
        continue;
      }
      int used = 0;
      for (int step = 0; step < steps; ++step) {
        mbarrier::wait(full + 8 * ring.stage, ring.phase);
        const unsigned from = memory + ring.stage * kBytes;
        const unsigned long long left = wgmma::k_major_tile(from + group * kBox);
        const unsigned long long below = wgmma::k_major_tile(from + kBytesA);
        wgmma::fence();
#pragma unroll
        for (int k = 0; k < kDepth / 32; ++k) {
          multiply(sums, left + k * (32 >> 4), below + k * (32 >> 4), step + k > 0);
        }
        wgmma::commit();
        wgmma::wait<1>();  // the products of the step before are done
        if (step > 0 && lane < CLUSTER) mbarrier::arrive_at<CLUSTER>(empty + 8 * used, lane);
        used = ring.stage;
        ring.advance();
      }
      wgmma::wait<0>();
      wgmma::settle(sums);
      if (lane < CLUSTER) mbarrier::arrive_at<CLUSTER>(empty + 8 * used, lane);
      store(sums, upper, lower, right, scales[group], c_map, buffers, m0, n0);
    }
    if (t == 0) tma::wait<0>();
  }
  __syncwarp();
  cluster::sync<CLUSTER>();  // no block leaves while another may arrive at its barriers
}

// Shapes without tensor maps: 96 x 128 tiles, 32 x 32 a warp, in steps of 64 along k. Rows of 64 bytes are 80 apart in
// shared memory, so that the words of eight rows lie in different banks.
constexpr int kPlainRows = 96, kPlainColumns = 128, kPlainDepth = 64, kPitch = kPlainDepth + 16;

// 16 elements of a row-major [rows, columns] matrix to shared memory, zero outside it.
__device__ __forceinline__ void copy16(unsigned char* to, const int8_t* __restrict__ from, int row, int column,
                                       int rows, int columns) {
  uint4 four = make_uint4(0, 0, 0, 0);
  if (row < rows && column < columns) {
    const int8_t* at = from + (size_t)row * columns + column;
    if (columns % 16 == 0) {
      four = __ldg((const uint4*)at);
    } else {
      unsigned words[4] = {};
#pragma unroll
      for (int j = 0; j < 16; ++j) {
        if (column + j < columns) words[j / 4] |= (unsigned)(unsigned char)__ldg(at + j) << (8 * (j % 4));
      }
      four = make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
  *(uint4*)to = four;
}

__device__ __forceinline__ void multiply_plainly(unsigned char* memory, const int8_t* a, const int8_t* b,
                                                 const float* scale_a, const float* scale_b, __nv_bfloat16* c, int M,
                                                 int N, int K) {
  unsigned char *left = memory, *right = memory + kPlainRows * kPitch;
  const int t = threadIdx.x, lane = t % 32, row = t / 128 * 32, column = t / 32 % 4 * 32;  // of the warp's results
  const int across = (N + kPlainColumns - 1) / kPlainColumns, count = across * ((M + kPlainRows - 1) / kPlainRows);
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const int m0 = tile / across * kPlainRows, n0 = tile % across * kPlainColumns;
    int sums[2][4][4] = {};
    for (int k0 = 0; k0 < K; k0 += kPlainDepth) {
      __syncthreads();
      for (int e = t; e < (kPlainRows + kPlainColumns) * 4; e += 384) {
        const int r = e / 4, k = e % 4 * 16;
        if (r < kPlainRows) {
          copy16(left + r * kPitch + k, a, m0 + r, k0 + k, M, K);
        } else {
          copy16(right + (r - kPlainRows) * kPitch + k, b, n0 + r - kPlainRows, k0 + k, N, K);
        }
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kPlainDepth; k += 32) {
        unsigned l[2][4];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
          for (int w = 0; w < 4; ++w) {
            l[i][w] = *(const unsigned*)(left + (row + 16 * i + lane / 4 + w % 2 * 8) * kPitch + k + lane % 4 * 4 +
                                         w / 2 * 16);
          }
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const unsigned char* at = right + (column + 8 * j + lane / 4) * kPitch + k + lane % 4 * 4;
          const unsigned r0 = *(const unsigned*)at, r1 = *(const unsigned*)(at + 16);
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            int(&d)[4] = sums[i][j];
            asm volatile(
                "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                "{%0, %1, %2, %3};"
                : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                : "r"(l[i][0]), "r"(l[i][1]), "r"(l[i][2]), "r"(l[i][3]), "r"(r0), "r"(r1));
          }
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int m = m0 + row + 16 * i + lane / 4 + e / 2 * 8, n = n0 + column + 8 * j + lane % 4 * 2 + e % 2;
          if (m < M && n < N) {
            c[(size_t)m * N + n] = __float2bfloat16(__ldg(scale_a + m) * __ldg(scale_b + n) * (float)sums[i][j][e]);
          }
        }
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const __grid_constant__ CUtensorMap c_map, const int8_t* a, const int8_t* b, const float* scale_a,
         const float* scale_b, __nv_bfloat16* c, int M, int N, int K, int mapped) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
  __shared__ __align__(16) float scales[2][2][64];  // of a warpgroup, of a piece's buffer
  const unsigned start = shared_address(raw), memory = round_up(start, 1024);  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
  if (mapped) {
    multiply_tiles(&a_map, &b_map, &c_map, scale_a, scale_b, scales, memory, full, empty, M, N, K);
  } else {
    multiply_plainly(raw + (memory - start), a, b, scale_a, scale_b, c, M, N, K);
  }
}
