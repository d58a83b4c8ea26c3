/* kernelwright
{
  "problem": "gemm_bf16",
  "backends": ["cuda"],
  "arch": "sm_100a",
  "description": "persistent TMA and tcgen05, 128 x 256 tiles, sums of the next tile beside those that are stored",
  "tunables": {"STAGES": [4, 3], "COLUMNS": [256, 128], "BAND": [16, 8, 32], "BLOCKS": [148, 144, 128]},
  "tensor_maps": {
    "a_map": {"tensor": "a", "box": [64, 128], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "b_map": {"tensor": "b", "box": [64, 64], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "c_map": {"tensor": "c", "box": [64, 32], "swizzle": 128, "when": "(K % 8 == 0) * (N % 8 == 0)"}
  },
  "launches": [
    {"kernel": "gemm", "grid": ["BLOCKS", 1, 1], "block": [256, 1, 1],
     "shared_bytes": "STAGES * (16384 + 128 * COLUMNS) + 33792",
     "args": ["a_map", "b_map", "c_map", "a", "b", "c", "M", "N", "K", "(K % 8 == 0) * (N % 8 == 0)"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// BLOCKS blocks stay on the device and take 128 x COLUMNS tiles of c in turn, in bands of BAND tiles along m, so that
// those in work at a time share rows of a and columns of b in L2. In each, one thread fetches tiles of a and b by TMA,
// STAGES steps of 64 along k ahead, also into the next tile of c; another has tcgen05 multiply them, with sums in one
// of two halves of tensor memory; and four warps read the other half, 32 rows each, and write it through 8 KiB of
// shared memory a warp by TMA. Shapes whose rows are not aligned to 16 bytes have no tensor maps and take wmma.
//
// Not yet timed. Tensor cores need some 512 cycles for a step of 64, whose 48 KiB are 96 bytes a cycle: the way from L2
// may be narrower than that, and pairs of blocks that have half of b each (cta_group::2) would need 64.
// Compiled for sm_100a and executed on the cpu device; not run on such a GPU.
#include <cuda.h>
#include <cuda_bf16.h>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tcgen05.cuh>
#include <kw/tma.cuh>
#include <kw/wmma_gemm.cuh>

using namespace kw;

constexpr int kRows = 128, kDepth = 64;  // of a tile of c; of a step along k
constexpr int kBox = 64 * 64 * 2, kBytesA = kRows * kDepth * 2, kBytes = kBytesA + COLUMNS * kDepth * 2;
constexpr int kBuffer = 32 * 128;  // 32 rows of 64 results, of a warp
constexpr int kStorers = 4;        // warps

struct Tiles {
  int across, down;
  __device__ __forceinline__ Tiles(int M, int N) : across((N + COLUMNS - 1) / COLUMNS), down((M + kRows - 1) / kRows) {}
  __device__ __forceinline__ int count() const { return across * down; }
  __device__ __forceinline__ void place(int tile, int& m0, int& n0) const {
    const int band = tile / (BAND * across), within = tile % (BAND * across);
    const int rows = min(BAND, down - band * BAND);
    m0 = (band * BAND + within % rows) * kRows;
    n0 = within / rows * COLUMNS;
  }
};

__device__ __forceinline__ void fetch(const CUtensorMap* a_map, const CUtensorMap* b_map, const Tiles& tiles,
                                      unsigned memory, unsigned full, unsigned empty, int steps) {
  Ring<STAGES> ring;
  for (int tile = blockIdx.x; tile < tiles.count(); tile += gridDim.x) {
    int m0, n0;
    tiles.place(tile, m0, n0);
    for (int step = 0; step < steps; ++step, ring.advance()) {
      const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * kBytes;
      mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
      mbarrier::expect(barrier, kBytes);
      tma::load(to, a_map, step * kDepth, m0, barrier);
#pragma unroll
      for (int i = 0; i < COLUMNS / 64; ++i) {
        tma::load(to + kBytesA + i * kBox, b_map, n0 + 64 * i, step * kDepth, barrier);
      }
    }
  }
}

__device__ __forceinline__ void multiply(const Tiles& tiles, unsigned sums, unsigned memory, unsigned full,
                                         unsigned empty, unsigned done, unsigned stored, int steps) {
  constexpr unsigned what = tcgen05::instruction<tcgen05::bf16, tcgen05::mn_major>(COLUMNS);
  Ring<STAGES> ring;
  Ring<2> half;
  for (int tile = blockIdx.x; tile < tiles.count(); tile += gridDim.x, half.advance()) {
    mbarrier::wait(stored + 8 * half.stage, half.phase ^ 1);
    for (int step = 0; step < steps; ++step, ring.advance()) {
      mbarrier::wait(full + 8 * ring.stage, ring.phase);
      tcgen05::after_sync();
      const unsigned from = memory + ring.stage * kBytes;
      const unsigned long long left = tcgen05::k_major_tile(from);
      const unsigned long long right = tcgen05::mn_major_tile(from + kBytesA, kBox);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        tcgen05::multiply(sums + half.stage * COLUMNS, left + k * (32 >> 4), right + k * (2048 >> 4), what,
                          step + k > 0);
      }
      tcgen05::commit(empty + 8 * ring.stage);
    }
    tcgen05::commit(done + 8 * half.stage);
  }
}

// By each of four warps, which has 32 rows of a tile, one a lane. `buffers`: two of them.
__device__ __forceinline__ void store(const CUtensorMap* c_map, const Tiles& tiles, unsigned sums,
                                      unsigned char* buffers, unsigned done, unsigned stored) {
  const int quarter = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  Ring<2> half;
  for (int tile = blockIdx.x; tile < tiles.count(); tile += gridDim.x, half.advance()) {
    int m0, n0;
    tiles.place(tile, m0, n0);
    mbarrier::wait(done + 8 * half.stage, half.phase);
    tcgen05::after_sync();
#pragma unroll 1
    for (int q = 0; q < COLUMNS / 64; ++q) {
      float d[2][32];
      const unsigned from = sums + (quarter * 32 << 16) + half.stage * COLUMNS + 64 * q;
      tcgen05::load(d[0], from);
      tcgen05::load(d[1], from + 32);
      if (lane == 0) tma::wait_read<1>();  // the buffer has been read
      __syncwarp();
      tcgen05::wait_load(d[0], d[1]);
      if (q == COLUMNS / 64 - 1) {
        tcgen05::before_sync();
        __syncwarp();
        if (lane == 0) mbarrier::arrive(stored + 8 * half.stage);
      }
      unsigned char* buffer = buffers + q % 2 * kBuffer;
#pragma unroll
      for (int chunk = 0; chunk < 8; ++chunk) {
        const float* e = d[chunk / 4] + chunk % 4 * 8;
        *(uint4*)(buffer + swizzled(lane, chunk)) =
            make_uint4(pack_bf16(e[0], e[1]), pack_bf16(e[2], e[3]), pack_bf16(e[4], e[5]), pack_bf16(e[6], e[7]));
      }
      tma::fence();
      __syncwarp();
      if (lane == 0) {
        tma::store(c_map, n0 + 64 * q, m0 + 32 * quarter, shared_address(buffer));
        tma::commit();
      }
    }
  }
  if (lane == 0) tma::wait<0>();
}

__device__ __forceinline__ void multiply_tiles(const CUtensorMap* a_map, const CUtensorMap* b_map,
                                               const CUtensorMap* c_map, unsigned char* memory, unsigned full,
                                               unsigned* slot, int M, int N, int K) {
  const unsigned empty = full + 8 * STAGES, done = empty + 8 * STAGES, stored = done + 16;
  const int warp = threadIdx.x / 32, steps = (K + kDepth - 1) / kDepth;
  const Tiles tiles(M, N);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier::init(full + 8 * s, 1);
      mbarrier::init(empty + 8 * s, 1);
    }
    for (int h = 0; h < 2; ++h) {
      mbarrier::init(done + 8 * h, 1);
      mbarrier::init(stored + 8 * h, kStorers);
    }
    mbarrier::fence_init();
  }
  if (warp == 2) {
    tcgen05::alloc(shared_address(slot), 2 * COLUMNS);
    tcgen05::relinquish();
  }
  tcgen05::meet();
  const unsigned sums = *slot;
  if (threadIdx.x == 0) fetch(a_map, b_map, tiles, shared_address(memory), full, empty, steps);
  if (threadIdx.x == 32) multiply(tiles, sums, shared_address(memory), full, empty, done, stored, steps);
  if (warp >= 4) store(c_map, tiles, sums, memory + STAGES * kBytes + warp % 4 * 2 * kBuffer, done, stored);
  __syncwarp();
  tcgen05::meet();
  if (warp == 2) tcgen05::dealloc(sums, 2 * COLUMNS);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const __grid_constant__ CUtensorMap c_map, const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
         int M, int N, int K, int mapped) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES + 4];
  __shared__ unsigned slot;
  const unsigned start = shared_address(raw), memory = round_up(start, 1024);  // swizzling wants 1024 bytes
  if (mapped) {
    multiply_tiles(&a_map, &b_map, &c_map, raw + (memory - start), shared_address(barriers), &slot, M, N, K);
  } else {
    wmma_gemm<256>(raw + (memory - start), a, b, c, M, N, K);
  }
}
