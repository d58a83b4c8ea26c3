/* kernelwright
{
  "problem": "linear_swiglu_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent TMA and wgmma, 128 x 128 tiles of gate and up together, silu and product in registers",
  "tunables": {"STAGES": [4, 3], "CLUSTER": [1, 2], "BAND": [16, 8, 32], "BLOCKS": [132, 128]},
  "tensor_maps": {
    "x_map": {"tensor": "x", "box": [64, 128], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "gate_map": {"tensor": "w_gate", "box": [64, 128], "swizzle": 128, "l2_promotion": 256,
                 "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "up_map": {"tensor": "w_up", "box": [64, 128], "swizzle": 128, "l2_promotion": 256,
               "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "y_map": {"tensor": "y", "box": [64, 64], "swizzle": 128, "when": "(K % 8 == 0) * (N % 8 == 0)"}
  },
  "launches": [
    {"kernel": "gemm", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1], "cluster": ["CLUSTER", 1, 1],
     "shared_bytes": "STAGES * 49152 + 33792",
     "args": ["x_map", "gate_map", "up_map", "y_map", "x", "w_gate", "w_up", "y", "M", "N", "K",
              "(K % 8 == 0) * (N % 8 == 0)"]}
  ]
}
*/
// y[m, n] = silu(g) * u, g = sum_k x[m, k] * w_gate[n, k], u = sum_k x[m, k] * w_up[n, k], silu(g) = g / (1 + exp(-g));
// x: [M, K], w_gate, w_up: [N, K], y: [M, N].
//
// BLOCKS blocks stay on the device and take 128 x 128 tiles of y in turn, in bands of BAND tiles along m, so that those
// in work at a time share rows of x and of the weights in L2. One thread fetches tiles of x and of both weights by TMA,
// STAGES steps of 64 along k ahead, also into the next tile of y. The 128 rows of w_gate and the same 128 rows of w_up
// lie one after the other in shared memory and are one right operand for wgmma: each of two warpgroups multiplies 64 x
// 256, and a thread's sums i and i + 64 are gate and up of the same element. So it applies silu and multiplies in
// registers, while the other warpgroup still multiplies or has begun its next tile. Results pass through 16 KiB of
// shared memory a warpgroup (stmatrix), and TMA writes them while the next tile is multiplied. In a cluster of two, the
// blocks own neighbours along m; one fetches w_gate for both, the other w_up. Shapes whose rows are not aligned to 16
// bytes have no tensor maps and take fp32 arithmetic.
//
// A step moves and multiplies as much as one of linear_gelu_bf16, and a tile leaves half as many results. Measured on
// one H200 on 2026-11-28, cold caches, median: 924 us at 4096x11008x4096, 90 % of the bound, where two products of
// cuBLAS and an element-wise kernel take 1.06 ms.
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

constexpr int kRows = 128, kColumns = 128, kDepth = 64;  // of a tile of y; of a step along k
constexpr int kBox = 64 * 128, kBytesA = kRows * 128, kBytesB = kColumns * 128, kBytes = kBytesA + 2 * kBytesB;
constexpr int kBand = BAND / CLUSTER;

// The quotient is 0 where the power is infinite. Its reciprocal may be denormal, which counts where `up` is large.
__device__ __forceinline__ float silu_times(float gate, float up) {
  float power, inverse;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-1.4426950408889634f * gate));
  asm("rcp.approx.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
  return gate * inverse * up;
}

// 64 x 128 results of a warpgroup, in two pieces of 64 columns, each with its buffer.
__device__ __forceinline__ void store(const float (&sums)[128], const CUtensorMap* y_map, unsigned buffers, int m,
                                      int n) {
  const int group = threadIdx.x / 128, t = threadIdx.x % 128, row = t / 32 * 16 + t % 16, high = t % 32 / 16;
#pragma unroll
  for (int q = 0; q < 2; ++q) {
    const unsigned buffer = buffers + q * kBox;
    unsigned packed[16];
#pragma unroll
    for (int j = 0; j < 16; ++j) {  // two neighbours of one of two rows, in one of eight blocks of eight columns
      const float *gate = sums + 32 * q + 2 * j, *up = gate + 64;
      packed[j] = pack_bf16(silu_times(gate[0], up[0]), silu_times(gate[1], up[1]));
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

__device__ __forceinline__ void multiply_tiles(const CUtensorMap* x_map, const CUtensorMap* gate_map,
                                               const CUtensorMap* up_map, const CUtensorMap* y_map, unsigned memory,
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
          tma::load(to, x_map, step * kDepth, m0, barrier);
          if (CLUSTER == 1 || rank == 0) {
            tma::load_multicast<CLUSTER>(to + kBytesA, gate_map, step * kDepth, n0, barrier);
          }
          if (CLUSTER == 1 || rank == 1) {
            tma::load_multicast<CLUSTER>(to + kBytesA + kBytesB, up_map, step * kDepth, n0, barrier);
          }
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
        const unsigned long long right = wgmma::k_major_tile(from + kBytesA);  // rows of w_gate, then of w_up
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
      store(sums, y_map, buffers, m0 + 64 * group, n0);
    }
    if (threadIdx.x % 128 == 0) tma::wait<0>();
  }
  __syncwarp();
  cluster::sync<CLUSTER>();  // no block leaves while another may arrive at its barriers
}

// Shapes without tensor maps: 96 x 64 tiles. Gates wait in shared memory, where each thread finds its own again.
__device__ __forceinline__ void multiply_plainly(float* memory, const __nv_bfloat16* x, const __nv_bfloat16* w_gate,
                                                 const __nv_bfloat16* w_up, __nv_bfloat16* y, int M, int N, int K) {
  const int across = (N + 63) / 64, count = across * ((M + 95) / 96);
  float* gates = memory + (384 / 4 + 66) * 32;  // behind the tiles
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const int m0 = tile / across * 96, n0 = tile % across * 64;
    plain_tile<384, true>(memory, x, w_gate, m0, M, n0, N, K,
                          [&](int m, int n, float sum) { gates[(m - m0) * 64 + n - n0] = sum; });
    plain_tile<384, true>(memory, x, w_up, m0, M, n0, N, K, [&](int m, int n, float sum) {
      y[(size_t)m * N + n] = __float2bfloat16(silu_times(gates[(m - m0) * 64 + n - n0], sum));
    });
  }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap x_map, const __grid_constant__ CUtensorMap gate_map,
         const __grid_constant__ CUtensorMap up_map, const __grid_constant__ CUtensorMap y_map, const __nv_bfloat16* x,
         const __nv_bfloat16* w_gate, const __nv_bfloat16* w_up, __nv_bfloat16* y, int M, int N, int K, int mapped) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
  const unsigned start = shared_address(raw), memory = round_up(start, 1024);  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
  if (mapped) {
    multiply_tiles(&x_map, &gate_map, &up_map, &y_map, memory, full, empty, M, N, K);
  } else {
    multiply_plainly((float*)(raw + (memory - start)), x, w_gate, w_up, y, M, N, K);
  }
}
