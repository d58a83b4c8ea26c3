/* kernelwright
{
  "problem": "linear_gelu_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent TMA and wgmma, 128 x 256 tiles, bias and gelu in registers, results leave by TMA",
  "tunables": {"STAGES": [4, 3], "CLUSTER": [1, 2], "BAND": [8, 16, 32], "BLOCKS": [128, 132]},
  "tensor_maps": {
    "x_map": {"tensor": "x", "box": [64, 128], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "w_map": {"tensor": "w", "box": [64, "256 / CLUSTER"], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "y_map": {"tensor": "y", "box": [64, 64], "swizzle": 128, "when": "(K % 8 == 0) * (N % 8 == 0)"}
  },
  "launches": [
    {"kernel": "gemm", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1], "cluster": ["CLUSTER", 1, 1],
     "shared_bytes": "STAGES * 49152 + 33792",
     "args": ["x_map", "w_map", "y_map", "x", "w", "b", "y", "M", "N", "K",
              "(K % 8 == 0) * (N % 8 == 0)"]}
  ]
}
*/
// y[m, n] = gelu(sum_k x[m, k] * w[n, k] + b[n]) with the tanh form of gelu; x: [M, K], w: [N, K], b: [N], y: [M, N].
//
// BLOCKS blocks stay on the device and take 128 x 256 tiles of y in turn, in bands of BAND tiles along m, so that those
// in work at a time share rows of x and w in L2. One thread fetches tiles of x and w by TMA, STAGES steps of 64 along k
// ahead, also into the next tile of y. Two warpgroups multiply them with wgmma, 64 x 256 of y each, and add the bias
// and apply gelu to the sums in registers; one does so while the other still multiplies or has begun its next tile.
// Results pass through 16 KiB of shared memory a warpgroup (stmatrix), and TMA writes them while the next tile is
// multiplied. In a cluster of two, the blocks own neighbours along m, and each fetches half of w for both. Shapes whose
// rows are not aligned to 16 bytes have no tensor maps and take fp32 arithmetic.
//
// Measured on one H200 on 2026-11-25, cold caches, median: 185.6 us at 4096x4096x4096, 82 % of the bound, with BAND=8
// BLOCKS=128 CLUSTER=1 STAGES=4.
#include <cuda.h>
#include <cuda_bf16.h>
#include <kw/cluster.cuh>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/plain_gemm.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int kRows = 128, kColumns = 256, kDepth = 64;  // of a tile of y; of a step along k
constexpr int kBox = 64 * 128, kBytesA = kRows * 128, kBytes = kBytesA + kColumns * 128;
constexpr int kBand = BAND / CLUSTER;

// v / (1 + exp(-2 u)) with u = sqrt(2 / pi) (v + 0.044715 v^3), which is v (1 + tanh(u)) / 2.
__device__ __forceinline__ float gelu(float v) {
  const float exponent = v * fmaf(v * v, -0.10294324f, -2.3022082f);  // of two
  float power, inverse;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
  return v * inverse;
}

// 64 x 256 results of a warpgroup, in four pieces of 64 columns and two buffers.
__device__ __forceinline__ void store(const float (&sums)[128], const CUtensorMap* y_map, const __nv_bfloat16* bias,
                                      unsigned buffers, int m, int n, int N) {
  const int group = threadIdx.x / 128, t = threadIdx.x % 128, row = t / 32 * 16 + t % 16, high = t % 32 / 16;
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const unsigned buffer = buffers + q % 2 * kBox;
    unsigned packed[16];
#pragma unroll
    for (int j = 0; j < 8; ++j) {  // blocks of eight columns; this thread has two of them in two rows
      const int column = n + 64 * q + 8 * j + t % 4 * 2;
      const float2 add =
          column < N ? __bfloat1622float2(*(const __nv_bfloat162*)(bias + column)) : make_float2(0.0f, 0.0f);
      const float* d = sums + 32 * q + 4 * j;
      packed[2 * j] = pack_bf16(gelu(d[0] + add.x), gelu(d[1] + add.y));
      packed[2 * j + 1] = pack_bf16(gelu(d[2] + add.x), gelu(d[3] + add.y));
    }
    if (t == 0) tma::wait_read<1>();  // the buffer has been read
    warpgroup::sync<128>(1 + group);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      store_matrices(buffer + swizzled(row, 2 * j + high), packed[4 * j], packed[4 * j + 1], packed[4 * j + 2],
                     packed[4 * j + 3]);
    }
    tma::fence();
    warpgroup::sync<128>(1 + group);
    if (t == 0) {
      tma::store(y_map, n + 64 * q, m, buffer);
      tma::commit();
    }
  }
}

__device__ __forceinline__ void multiply_tiles(const CUtensorMap* a_map, const CUtensorMap* b_map,
                                               const CUtensorMap* c_map, const __nv_bfloat16* bias, unsigned memory,
                                               unsigned full, unsigned empty, int M, int N, int K) {
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
    warpgroup::keep_registers<40>();
    if (threadIdx.x == 256) {  // the producer
      for (int tile = blockIdx.x / CLUSTER; tile < down * across; tile += gridDim.x / CLUSTER) {
        place(tile, m0, n0);
        for (int step = 0; step < steps; ++step) {
          const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * kBytes;
          mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
          mbarrier::expect(barrier, kBytes);
          tma::load(to, a_map, step * kDepth, m0, barrier);
          const int part = kColumns / CLUSTER * rank;
          tma::load_multicast<CLUSTER>(to + kBytesA + part * 128, b_map, step * kDepth, n0 + part, barrier);
          ring.advance();
        }
      }
    }
  } else {
    warpgroup::take_registers<232>();
    const unsigned buffers = memory + STAGES * kBytes + group * 2 * kBox;
    float sums[128];
    for (int tile = blockIdx.x / CLUSTER; tile < down * across; tile += gridDim.x / CLUSTER) {
      place(tile, m0, n0);
      int used = 0;
      for (int step = 0; step < steps; ++step) {
        mbarrier::wait(full + 8 * ring.stage, ring.phase);
        const unsigned from = memory + ring.stage * kBytes;
        const unsigned long long left = wgmma::k_major_tile(from + group * kBox);
        const unsigned long long right = wgmma::k_major_tile(from + kBytesA);
        wgmma::fence();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          wgmma::multiply<wgmma::bf16>(sums, left + k * (32 >> 4), right + k * (32 >> 4), step + k > 0);
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
      store(sums, c_map, bias, buffers, m0 + 64 * group, n0, N);
    }
    if (threadIdx.x % 128 == 0) tma::wait<0>();
  }
  __syncwarp();
  cluster::sync<CLUSTER>();  // no block leaves while another may arrive at its barriers
}

// Shapes without tensor maps: 96 x 64 tiles.
__device__ __forceinline__ void multiply_plainly(float* memory, const __nv_bfloat16* a, const __nv_bfloat16* b,
                                                 const __nv_bfloat16* bias, __nv_bfloat16* c, int M, int N, int K) {
  const int across = (N + 63) / 64, count = across * ((M + 95) / 96);
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    plain_tile<384, true>(memory, a, b, tile / across * 96, M, tile % across * 64, N, K, [&](int m, int n, float sum) {
      c[(size_t)m * N + n] = __float2bfloat16(gelu(sum + __bfloat162float(bias[n])));
    });
  }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const __grid_constant__ CUtensorMap c_map, const __nv_bfloat16* a, const __nv_bfloat16* b,
         const __nv_bfloat16* bias, __nv_bfloat16* c, int M, int N, int K, int mapped) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
  const unsigned start = shared_address(raw), memory = round_up(start, 1024);  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
  if (mapped) {
    multiply_tiles(&a_map, &b_map, &c_map, bias, memory, full, empty, M, N, K);
  } else {
    multiply_plainly((float*)(raw + (memory - start)), a, b, bias, c, M, N, K);
  }
}
