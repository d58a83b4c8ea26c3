/* kernelwright
{
  "problem": "unaligned_gemm_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "TMA reads unaligned rows in place, every eighth one at a time; wgmma with a from registers",
  "tunables": {"HIGH": [2, 1], "STAGES": [4, 3], "CLUSTER": [1, 2], "BAND": [16, 8, 32]},
  "workspace": {
    "a_end": {"bytes": "16384 * ceil_div(K, 64)"},
    "b_end": {"bytes": "8192 * ceil_div(N, 64)"}
  },
  "tensor_maps": {
    "a_map": {"tensor": "a", "shape": ["8 * K", "max(1, M / 8)"], "box": [64, 16], "swizzle": 128,
              "l2_promotion": 256, "when": "M >= 8"},
    "b_map": {"tensor": "b", "shape": ["8 * N", "max(1, K / 8)"], "box": [64, 8], "swizzle": 128,
              "l2_promotion": 256, "when": "K >= 8"},
    "a_end_map": {"tensor": "a_end", "dtype": "bf16", "shape": ["64 * ceil_div(K, 64)", "128"], "box": [64, 128],
                  "swizzle": 128, "l2_promotion": 256},
    "b_end_map": {"tensor": "b_end", "dtype": "bf16", "shape": ["64 * ceil_div(N, 64)", "64"], "box": [64, 64],
                  "swizzle": 128, "l2_promotion": 256}
  },
  "launches": [
    {"kernel": "prepare", "grid": [132, 1, 1], "block": [256, 1, 1],
     "args": ["a", "b", "a_end", "b_end", "M", "N", "K"]},
    {"kernel": "gemm", "grid": [132, 1, 1], "block": [384, 1, 1], "cluster": ["CLUSTER", 1, 1],
     "shared_bytes": "STAGES * 49152 + 33792", "overlaps_previous": true,
     "args": ["a_map", "b_map", "a_end_map", "b_end_map", "c", "M", "N", "K",
              "2 * ceil_div(M, 128 * HIGH) * ceil_div(N, 256 / HIGH) <= 132"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// TMA wants strides of a multiple of 16 bytes, but a box may begin at any element. Eight rows of any length span a
// multiple of 16 bytes, so a is mapped as [M / 8, 8 K]: a box of 64 x 16 at column p K + k holds rows p, p + 8, ... of
// 128, and eight such boxes are a tile. b is mapped as [K / 8, 8 N] in the same way. Elements beyond the end of a row
// are the next row's; those of a are multiplied by zeros of b, and those of b give columns that nobody stores. The last
// M % 8 and K % 8 rows have no map. The first launch copies the 128 rows of a and 64 of b that they belong to (1.5 MB
// at 4096), in the order of such boxes. The second launch begins meanwhile and waits before it reads these rows.
//
// The rows of b come in the order k = 8 q + p, by p and then q, where a would need the same order along its rows. So a
// goes through registers: in the fragments of four instructions, a thread has the same 16 neighbours along k of two
// rows, which are two words of 16 bytes each, and pairs k with k + 8. The order of a's rows only permutes rows of c.
//
// 132 blocks stay on the device and take tiles of c in turn, in bands of BAND * 128 rows, so that those in work at a
// time share rows of a and columns of b in L2. Tiles are 256 x 128 (HIGH=2) or 128 x 256 (HIGH=1); 128 x 64 where there
// are too few of those for half of the blocks. Two threads fetch tiles by TMA, ahead by the stages of 64 along k, also
// into the next tile of c. Two warpgroups multiply, half of the rows each. In a cluster of two, the blocks own
// neighbours along m, and each fetches half of b for both.
//
// A warp passes 16 rows of its sums at a time through shared memory (stmatrix), and writes them row by row in aligned
// words of 16 bytes; only the ends of a row within a tile are written element by element.
//
// Bound by the product; expected at 4095 x 4097 x 4093: 75 to 80 % of it, if TMA brings unaligned boxes at full rate.
// Not yet timed on a GPU.
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

extern "C" __global__ void __launch_bounds__(256, 2)
    prepare(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, void* a_end, void* b_end, int M,
            int N, int K) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  if (M % 8 > 0) {
    unaligned::copy_padded(a_end, a, M, K, (K + 63) / 64 * 64, 128,
                           [&](int row) { return M / 128 * 128 + row % 16 * 8 + row / 16; });
  }
  if (K % 8 > 0) {
    unaligned::copy_padded(b_end, b, K, N, (N + 63) / 64 * 64, 64,
                           [&](int row) { return K / 64 * 64 + row % 8 * 8 + row / 8; });
  }
}

__device__ __forceinline__ void wait_for_copies() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// Tiles of 128 * high x 64 * wide. All roles walk them in the same order.
template <int high, int wide>
struct Product {
  static constexpr int kRows = 128 * high, kColumns = 64 * wide, kBytesA = 2 * high * kBox;
  static constexpr int kBytes = kBytesA + wide * kBox, kStages = STAGES * kStageBytes / kBytes;
  static constexpr int kBand = BAND / (high * CLUSTER);
  int M, N, K;
  unsigned memory, full, empty;

  // In pairs; b is zero beyond K.
  __device__ __forceinline__ int steps() const { return (K + 2 * kDepth - 1) / (2 * kDepth) * 2; }

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

  // One thread fetches a, another one b. From `begin` on, a [b] has rows that only the copy holds all of.
  __device__ __forceinline__ void fetch_a(const CUtensorMap* a_map, const CUtensorMap* end_map) const {
    const int count = steps(), begin = M % 8 > 0 ? M / 128 * 128 : 1 << 30;
    Ring<kStages> ring;
    for_each_tile([&](int m0, int) {
      if (m0 + kRows > begin) wait_for_copies();
      for (int step = 0; step < count; ++step) {
        const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * kBytes;
        mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
        mbarrier::expect(barrier, kBytesA);
#pragma unroll
        for (int h = 0; h < high; ++h) {
          const int m = m0 + 128 * h, k = step * kDepth;
          if (m >= begin) {
            tma::load(to + 2 * h * kBox, end_map, k, 0, barrier);
          } else {
#pragma unroll
            for (int p = 0; p < 8; ++p) tma::load(to + (8 * h + p) * (kBox / 4), a_map, p * K + k, m / 8, barrier);
          }
        }
        ring.advance();
      }
    });
    wait_for_copies();
  }

  __device__ __forceinline__ void fetch_b(const CUtensorMap* b_map, const CUtensorMap* end_map) const {
    const int rank = blockIdx.x % CLUSTER, count = steps(), begin = K % 8 > 0 ? K / kDepth * kDepth : 1 << 30;
    Ring<kStages> ring;
    for_each_tile([&](int, int n0) {
      for (int step = 0; step < count; ++step) {
        const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * kBytes + kBytesA;
        const int k = step * kDepth;
        mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
        mbarrier::expect(barrier, kBytes - kBytesA);
        if (k >= begin) wait_for_copies();
#pragma unroll 1
        for (int w = 0; w < wide; ++w) {  // a single box is fetched by the blocks of a cluster in turn
          if ((wide < CLUSTER ? step : w) % CLUSTER != rank) continue;
          const int n = n0 + 64 * w;
          if (k >= begin) {
            tma::load_multicast<CLUSTER>(to + w * kBox, end_map, n, k - begin, barrier);
          } else {
#pragma unroll
            for (int p = 0; p < 8; ++p) {
              tma::load_multicast<CLUSTER>(to + (8 * w + p) * (kBox / 8), b_map, p * N + n, k / 8, barrier);
            }
          }
        }
        ring.advance();
      }
    });
    wait_for_copies();
  }

  // A thread's share of a step's a: rows lane / 4 and 8 more of each 64. Words 4 i to 4 i + 3 are for instruction i.
  __device__ __forceinline__ void load_part(unsigned (&part)[high][16], unsigned from) const {
#pragma unroll
    for (int h = 0; h < high; ++h) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const uint4 low = load_four(from + h * kBox + r * 1024), up = load_four((from ^ 16) + h * kBox + r * 1024);
        const unsigned lows[4] = {low.x, low.y, low.z, low.w}, ups[4] = {up.x, up.y, up.z, up.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          part[h][4 * i + r] = __byte_perm(lows[i], ups[i], 0x5410);
          part[h][4 * i + 2 + r] = __byte_perm(lows[i], ups[i], 0x7632);
        }
      }
    }
  }

  // A warpgroup multiplies 64 * high x 64 * wide. staged: 16 KiB for its results.
  __device__ __forceinline__ void multiply(__nv_bfloat16* c, unsigned char* staged) const {
    const int group = threadIdx.x / 128, lane = threadIdx.x % 32, count = steps();
    const unsigned near = memory + group * high * kBox + swizzled(threadIdx.x % 128 / 32 * 16 + lane / 4, lane % 4 * 2);
    Ring<kStages> ring;
    float sums[high][32 * wide];
    unsigned parts[2][high][16];
    for_each_tile([&](int m0, int n0) {
      int used = 0;
      mbarrier::wait(full + 8 * ring.stage, ring.phase);
      load_part(parts[0], near + ring.stage * kBytes);
      const auto one_step = [&](unsigned(&part)[high][16], unsigned(&next)[high][16], int step) {
        const unsigned long long right = wgmma::mn_major_tile(memory + ring.stage * kBytes + kBytesA, kBox);
        wgmma::fence();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
          for (int h = 0; h < high; ++h) {
            const unsigned* four = part[h] + 4 * k;
            wgmma::multiply<wgmma::bf16, wgmma::mn_major>(sums[h], four[0], four[1], four[2], four[3],
                                                          right + (k * 2048 >> 4), step + k > 0);
          }
        }
        wgmma::commit();
        wgmma::wait<1>();  // the products of the step before are done
        __syncwarp();
        if (step > 0 && lane < CLUSTER) mbarrier::arrive_at<CLUSTER>(empty + 8 * used, lane);
        used = ring.stage;
        ring.advance();
        if (step + 1 < count) {
          mbarrier::wait(full + 8 * ring.stage, ring.phase);
          load_part(next, near + ring.stage * kBytes);
        }
      };
      for (int step = 0; step < count; step += 2) {
        one_step(parts[0], parts[1], step);
        one_step(parts[1], parts[0], step + 1);
      }
      wgmma::wait<0>();
#pragma unroll
      for (int h = 0; h < high; ++h) wgmma::settle(sums[h]);
      if (lane < CLUSTER) mbarrier::arrive_at<CLUSTER>(empty + 8 * used, lane);
#pragma unroll
      for (int h = 0; h < high; ++h) {
        const int block = group * high + h;  // of 64 rows
        store(sums[h], c, staged, m0 + block / 2 * 128 + block % 2 * 4, n0);
      }
    });
  }

  // 64 x 64 * wide results, at most 128 columns at a time. Each warp has 16 rows to itself: every eighth from m0 plus
  // its number in the warpgroup on.
  __device__ __forceinline__ void store(const float (&sums)[32 * wide], __nv_bfloat16* c, unsigned char* staged, int m0,
                                        int n0) const {
    constexpr int kBoxes = wide == 1 ? 1 : 2, kLanes = 8 * kBoxes;
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    const unsigned to = shared_address(staged);
#pragma unroll
    for (int part = 0; part < wide / kBoxes; ++part) {
      __syncwarp();  // all lanes have read what lies there
#pragma unroll
      for (int j = 0; j < 4 * kBoxes; ++j) {
        const float* d = sums + 32 * kBoxes * part + 8 * j;
        store_matrices(to + j / 4 * kBox + swizzled(16 * warp + lane % 16, j % 4 * 2 + lane / 16),
                       pack_bf16(d[0], d[1]), pack_bf16(d[2], d[3]), pack_bf16(d[4], d[5]), pack_bf16(d[6], d[7]));
      }
      __syncwarp();
      const int n = n0 + 64 * kBoxes * part;
#pragma unroll 2
      for (int r = lane / kLanes; r < 16; r += 32 / kLanes) {
        const int m = m0 + warp + 8 * r;
        if (m >= M || n >= N) break;
        unaligned::store_row<64 * kBoxes>(c, (size_t)m * N + n, N - n, lane % kLanes, [&](int chunk) {
          return staged + chunk / 8 * kBox + swizzled(16 * warp + r, chunk % 8);
        });
      }
    }
  }
};

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const __grid_constant__ CUtensorMap a_end_map, const __grid_constant__ CUtensorMap b_end_map, __nv_bfloat16* c,
         int M, int N, int K, int small) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[4 * STAGES];
  const unsigned start = shared_address(raw), memory = round_up(start, 1024);  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers), empty = full + 16 * STAGES;
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2 * STAGES; ++s) {
      mbarrier::init(full + 8 * s, 2);             // producers
      mbarrier::init(empty + 8 * s, 8 * CLUSTER);  // warps of consumers
    }
    mbarrier::fence_init();
  }
  cluster::sync<CLUSTER>();

  const Product<HIGH, 4 / HIGH> large{M, N, K, memory, full, empty};
  const Product<1, 1> little{M, N, K, memory, full, empty};  // twice the stages
  if (group == 2) {
    warpgroup::keep_registers<40>();
    if (threadIdx.x == 256) {
      if (small) {
        little.fetch_a(&a_map, &a_end_map);
      } else {
        large.fetch_a(&a_map, &a_end_map);
      }
    } else if (threadIdx.x == 288) {
      if (small) {
        little.fetch_b(&b_map, &b_end_map);
      } else {
        large.fetch_b(&b_map, &b_end_map);
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
