/* kernelwright
{
  "problem": "gemm_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent TMA and wgmma, 128 x 256 tiles, results leave by TMA under the next tile",
  "tunables": {"STAGES": [3, 4], "CLUSTER": [1, 2], "BAND": [8, 16, 32], "BLOCKS": [128, 132]},
  "tensor_maps": {
    "a_map": {"tensor": "a", "box": [64, 128], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "b_map": {"tensor": "b", "box": [64, 64], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "c_map": {"tensor": "c", "box": [64, 64], "swizzle": 128, "when": "(K % 8 == 0) * (N % 8 == 0)"}
  },
  "launches": [
    {"kernel": "gemm", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1], "cluster": ["CLUSTER", 1, 1],
     "shared_bytes": "STAGES * 49152 + 33792",
     "args": ["a_map", "b_map", "c_map", "a", "b", "c", "M", "N", "K", "(K % 8 == 0) * (N % 8 == 0)"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// BLOCKS blocks stay on the device and take 128 x 256 tiles of c in turn, in bands of BAND tiles along m, so that those
// in work at a time share rows of a and columns of b in L2. One thread fetches tiles of a and b by TMA, STAGES steps of
// 64 along k ahead, also into the next tile of c. Two warpgroups multiply them with wgmma, 64 x 256 of c each. Results
// pass through 16 KiB of shared memory a warpgroup (stmatrix), and TMA writes them while the next tile is multiplied.
// In a cluster of two, the blocks own neighbours along m, and each fetches half of b for both. Shapes whose rows are
// not aligned to 16 bytes have no tensor maps and take wmma.
//
// Measured on one H200 on 2026-11-25, cold caches, median: 1.37 ms at 8192x8192x8192, 89 % of the bound, with BAND=8
// BLOCKS=128 CLUSTER=1 STAGES=3.
#include <cuda.h>
#include <cuda_bf16.h>
#include <kw/cluster.cuh>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>
#include <kw/wmma_gemm.cuh>

using namespace kw;

constexpr int kRows = 128, kColumns = 256, kDepth = 64;  // of a tile of c; of a step along k
constexpr int kBox = 64 * 64 * 2, kBytesA = kRows * kDepth * 2, kBytes = kBytesA + kColumns * kDepth * 2;
constexpr int kBand = BAND / CLUSTER;

// 64 x 256 results of a warpgroup, in four pieces of 64 columns and two buffers.
__device__ __forceinline__ void store(const float (&sums)[128], const CUtensorMap* c_map, unsigned buffers, int m,
                                      int n) {
  const int group = threadIdx.x / 128, t = threadIdx.x % 128, row = t / 32 * 16 + t % 16, high = t % 32 / 16;
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const unsigned buffer = buffers + q % 2 * kBox;
    if (t == 0) tma::wait_read<1>();  // the buffer has been read
    warpgroup::sync<128>(1 + group);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float* d = sums + 32 * q + 8 * j;
      store_matrices(buffer + swizzled(row, 2 * j + high), pack_bf16(d[0], d[1]), pack_bf16(d[2], d[3]),
                     pack_bf16(d[4], d[5]), pack_bf16(d[6], d[7]));
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
                                               const CUtensorMap* c_map, unsigned memory, unsigned full, unsigned empty,
                                               int M, int N, int K) {
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32, rank = blockIdx.x % CLUSTER;
  const int steps = (K + kDepth - 1) / kDepth, across = (N + kColumns - 1) / kColumns;
  const int down = (M + kRows * CLUSTER - 1) / (kRows * CLUSTER);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier::init(full + 8 * s, 1);
      mbarrier::init(empty + 8 * s, 8 * CLUSTER);  // warps
    }
    mbarrier::fence_init();
  }
  cluster::sync<CLUSTER>();

  const auto place = [&](int tile, int& m0, int& n0) {
    const int band = tile / (kBand * across), within = tile % (kBand * across);
    const int rows = min(kBand, down - band * kBand);
    m0 = ((band * kBand + within % rows) * CLUSTER + rank) * kRows;
    n0 = within / rows * kColumns;
  };
  Ring<STAGES> ring;
  int m0, n0;
  if (group == 2) {
    if (threadIdx.x == 256) {  // the producer
      for (int tile = blockIdx.x / CLUSTER; tile < down * across; tile += gridDim.x / CLUSTER) {
        place(tile, m0, n0);
        for (int step = 0; step < steps; ++step) {
          const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * kBytes;
          mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
          mbarrier::expect(barrier, kBytes);
          tma::load(to, a_map, step * kDepth, m0, barrier);
#pragma unroll
          for (int i = 0; i < 4 / CLUSTER; ++i) {
            const int box = rank * (4 / CLUSTER) + i;
            tma::load_multicast<CLUSTER>(to + kBytesA + box * kBox, b_map, n0 + 64 * box, step * kDepth, barrier);
          }
          ring.advance();
        }
      }
    }
  } else {
    const unsigned buffers = memory + STAGES * kBytes + group * 2 * kBox;
    float sums[128];
    for (int tile = blockIdx.x / CLUSTER; tile < down * across; tile += gridDim.x / CLUSTER) {
      place(tile, m0, n0);
      int used = 0;
      for (int step = 0; step < steps; ++step) {
        mbarrier::wait(full + 8 * ring.stage, ring.phase);
        const unsigned from = memory + ring.stage * kBytes;
        const unsigned long long left = wgmma::k_major_tile(from + group * kBox);
        const unsigned long long right = wgmma::mn_major_tile(from + kBytesA, kBox);
        wgmma::fence();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          wgmma::multiply<wgmma::bf16, wgmma::mn_major>(sums, left + k * (32 >> 4), right + k * (2048 >> 4),
                                                        step + k > 0);
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
      store(sums, c_map, buffers, m0 + 64 * group, n0);
    }
    if (threadIdx.x % 128 == 0) tma::wait<0>();
  }
  __syncwarp();
  cluster::sync<CLUSTER>();  // no block leaves while another may arrive at its barriers
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const __grid_constant__ CUtensorMap c_map, const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
         int M, int N, int K, int mapped) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
  const unsigned start = shared_address(raw), memory = round_up(start, 1024);  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
  if (mapped) {
    multiply_tiles(&a_map, &b_map, &c_map, memory, full, empty, M, N, K);
  } else {
    wmma_gemm<384>(raw + (memory - start), a, b, c, M, N, K);
  }
}
