/* kernelwright
{
  "problem": "gemm_tf32",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "a rounded by a first launch; then TMA and wgmma for c^T = b^T a^T, b^T from registers",
  "tunables": {"STAGES": [4, 3], "CLUSTER": [2, 1], "BAND": [16, 8, 32], "BLOCKS": [132, 128], "COPIERS": [1056, 528]},
  "workspace": {
    "a_rounded": {"bytes": "16 * M * ceil_div(K, 4)"},
    "b_padded": {"bytes": "16 * (N % 4 > 0) * K * ceil_div(N, 4) + 16"}
  },
  "tensor_maps": {
    "a_map": {"tensor": "a_rounded", "dtype": "f32", "shape": ["4 * ceil_div(K, 4)", "M"], "box": [32, 128],
              "swizzle": 128, "l2_promotion": 256},
    "b_map": {"tensor": "b", "box": [32, 32], "swizzle": 128, "l2_promotion": 256, "when": "N % 4 == 0"},
    "padded_map": {"tensor": "b_padded", "dtype": "f32", "shape": ["4 * ceil_div(N, 4)", "K"], "box": [32, 32],
                   "swizzle": 128, "l2_promotion": 256, "when": "N % 4 > 0"}
  },
  "launches": [
    {"kernel": "prepare", "grid": ["COPIERS", 1, 1], "block": [256, 1, 1],
     "args": ["a", "b", "a_rounded", "b_padded", "M", "N", "K"]},
    {"kernel": "gemm", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1], "cluster": ["CLUSTER", 1, 1],
     "shared_bytes": "STAGES * 49152 + 1024", "overlaps_previous": true,
     "args": ["a_map", "b_map", "padded_map", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// For TF32, wgmma wants both operands with contiguous k, unless the left one comes from registers, where threads put
// elements as they like. b has contiguous n, so c^T = b^T a^T is computed: b^T is the left operand. A thread takes two
// neighbours along n at once for rows n and n + 8 of wgmma, which only names the rows of c^T otherwise; the chunks that
// a warp takes are such that their swizzle by TMA leaves no bank conflicts.
// wgmma cuts off the bits that TF32 lacks. Half a unit in the last place, added before, makes that a rounding to the
// nearest. For b this happens in registers. For a, the first launch does it once, on the way to a copy. The same launch
// copies b where its rows are not aligned to 16 bytes, so that all shapes have tensor maps.
//
// BLOCKS blocks stay on the device and take 256 x 128 tiles of c in turn, in bands of BAND tiles along n, so that those
// in work at a time share rows of a and columns of b in L2. One thread fetches tiles by TMA, STAGES steps of 32 along k
// ahead, also into the next tile of c. Two warpgroups multiply them, 256 x 64 of c each. While wgmma works on a step,
// the part of b for the next one moves to registers. Results go from registers to c, in whole sectors. In a cluster of
// two, the blocks own neighbours along n, and each fetches half of a for both.
#include <cuda.h>
#include <kw/cluster.cuh>
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int kRows = 256, kColumns = 128, kDepth = 32;  // of a tile of c; of a step along k
constexpr int kBytesA = kRows * kDepth * 4, kBytes = kBytesA + kColumns * kDepth * 4, kBoxB = 32 * kDepth * 4;
constexpr int kBand = BAND / CLUSTER;
constexpr unsigned kHalf = 0x1000;  // of the last bit that TF32 keeps

// Copies a matrix to rows of a multiple of four elements, the rest zero.
__device__ __forceinline__ void copy_padded(const unsigned* __restrict__ from, unsigned* __restrict__ to, int rows,
                                            int columns, unsigned add) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  if (columns % 4 == 0) {
    constexpr int kEach = 4;
    const int count = rows * (columns / 4);
    for (int i = thread; i < count; i += kEach * threads) {
      uint4 four[kEach];
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        if (i + j * threads < count) four[j] = __ldcs((const uint4*)from + i + j * threads);
      }
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        const uint4 x = four[j], sum = make_uint4(x.x + add, x.y + add, x.z + add, x.w + add);
        if (i + j * threads < count) ((uint4*)to)[i + j * threads] = sum;
      }
    }
  } else {
    const int padded = (columns + 3) / 4 * 4;
    for (int i = thread; i < rows * padded; i += threads) {
      const int row = i / padded, column = i % padded;
      to[i] = column < columns ? from[(size_t)row * columns + column] + add : 0u;
    }
  }
}

extern "C" __global__ void __launch_bounds__(256, 8)
    prepare(const unsigned* __restrict__ a, const unsigned* __restrict__ b, unsigned* __restrict__ a_rounded,
            unsigned* __restrict__ b_padded, int M, int N, int K) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  copy_padded(a, a_rounded, M, K, kHalf);
  if (N % 4 > 0) copy_padded(b, b_padded, K, N, 0);
}

// Two neighbours along n.
__device__ __forceinline__ void load_pair(unsigned& low, unsigned& high, unsigned from) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(low), "=r"(high) : "r"(from) : "memory");
}

// A thread's share of a step's b: for each eight of k four words, as wgmma takes them.
__device__ __forceinline__ void load_part(unsigned (&part)[16], unsigned near, unsigned far) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    load_pair(part[4 * k], part[4 * k + 1], near + k * 1024);
    load_pair(part[4 * k + 2], part[4 * k + 3], far + k * 1024);
  }
#pragma unroll
  for (int i = 0; i < 16; ++i) part[i] += kHalf;
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const __grid_constant__ CUtensorMap padded_map, float* __restrict__ c, int M, int N, int K) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
  const unsigned memory = round_up(shared_address(raw), 1024);
  const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
  const int group = threadIdx.x / 128, rank = blockIdx.x % CLUSTER;
  const int steps = (K + 2 * kDepth - 1) / (2 * kDepth) * 2;  // in pairs; what lies beyond K is zero
  const int down = (M + kRows - 1) / kRows, across = (N + kColumns * CLUSTER - 1) / (kColumns * CLUSTER);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier::init(full + 8 * s, 1);
      mbarrier::init(empty + 8 * s, 8 * CLUSTER);  // warps
    }
    mbarrier::fence_init();
  }
  cluster::sync<CLUSTER>();

  const auto place = [&](int tile, int& m0, int& n0) {
    const int band = tile / (kBand * down), within = tile % (kBand * down);
    const int columns = min(kBand, across - band * kBand);
    n0 = ((band * kBand + within % columns) * CLUSTER + rank) * kColumns;
    m0 = within / columns * kRows;
  };
  Ring<STAGES> ring;
  int m0, n0;
  if (group == 2) {
    warpgroup::keep_registers<40>();
    if (threadIdx.x == 256) {  // the producer
      const CUtensorMap* from_b = N % 4 == 0 ? &b_map : &padded_map;
      asm volatile("griddepcontrol.wait;" ::: "memory");
      for (int tile = blockIdx.x / CLUSTER; tile < down * across; tile += gridDim.x / CLUSTER) {
        place(tile, m0, n0);
        for (int step = 0; step < steps; ++step) {
          const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * kBytes;
          mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
          mbarrier::expect(barrier, kBytes);
#pragma unroll
          for (int i = 0; i < 2 / CLUSTER; ++i) {
            const int box = rank + i;
            tma::load_multicast<CLUSTER>(to + box * (kBytesA / 2), &a_map, step * kDepth, m0 + 128 * box, barrier);
          }
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            tma::load(to + kBytesA + i * kBoxB, from_b, n0 + 32 * i, step * kDepth, barrier);
          }
          ring.advance();
        }
      }
    }
  } else {
    warpgroup::take_registers<232>();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, q = lane % 4;
    // Of the 32 columns of a box, a warp takes 16, a thread two: those of chunk 0, 4, 1 or 5 (or two further), lower or
    // upper half.
    const int chunk = lane / 8 % 2 * 4 + lane / 16 + warp % 2 * 2, half = lane / 4 % 2;
    const int box = 2 * group + warp / 2, column = 32 * box + 4 * chunk + 2 * half;
    const unsigned near = memory + kBytesA + box * kBoxB + swizzled(q, chunk) + 8 * half;
    const unsigned far = memory + kBytesA + box * kBoxB + swizzled(q + 4, chunk) + 8 * half;
    float sums[128];
    unsigned parts[2][16];
    for (int tile = blockIdx.x / CLUSTER; tile < down * across; tile += gridDim.x / CLUSTER) {
      place(tile, m0, n0);
      int used = 0;
      mbarrier::wait(full + 8 * ring.stage, ring.phase);
      load_part(parts[0], near + ring.stage * kBytes, far + ring.stage * kBytes);
      const auto multiply = [&](unsigned(&part)[16], unsigned(&next)[16], int step) {
        const unsigned long long right = wgmma::k_major_tile(memory + ring.stage * kBytes);
        wgmma::fence();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          wgmma::multiply<wgmma::tf32>(sums, part[4 * k], part[4 * k + 1], part[4 * k + 2], part[4 * k + 3],
                                       right + k * (32 >> 4), step + k > 0);
        }
        wgmma::commit();
        wgmma::wait<1>();  // the products of the step before are done
        __syncwarp();
        if (step > 0 && lane < CLUSTER) mbarrier::arrive_at<CLUSTER>(empty + 8 * used, lane);
        used = ring.stage;
        ring.advance();
        if (step + 1 < steps) {
          mbarrier::wait(full + 8 * ring.stage, ring.phase);
          load_part(next, near + ring.stage * kBytes, far + ring.stage * kBytes);
        }
      };
      for (int step = 0; step < steps; step += 2) {
        multiply(parts[0], parts[1], step);
        multiply(parts[1], parts[0], step + 1);
      }
      wgmma::wait<0>();
      wgmma::settle(sums);
      if (lane < CLUSTER) mbarrier::arrive_at<CLUSTER>(empty + 8 * used, lane);

      const int n = n0 + column, m = m0 + 2 * q;
      if (n >= N) continue;
      float* const to = c + (size_t)m * N + n;
#pragma unroll
      for (int i = 0; i < 64; ++i) {
        const int row = i / 2 * 8 + i % 2;
        const float x = sums[i / 2 * 4 + i % 2], y = sums[i / 2 * 4 + 2 + i % 2];
        if (N % 2 == 0) {
          if (m + row < M) __stcs((float2*)(to + (size_t)row * N), make_float2(x, y));
        } else if (m + row < M) {
          __stcs(to + (size_t)row * N, x);
          if (n + 1 < N) __stcs(to + (size_t)row * N + 1, y);
        }
      }
    }
  }
  __syncwarp();
  cluster::sync<CLUSTER>();  // no block leaves while another may arrive at its barriers
}
