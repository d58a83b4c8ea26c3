/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "TMA brings a swizzled tile, 4 x 4 elements turn in registers; blocks walk along rows of y",
  "tunables": {"WIDE": [64, 32, 128], "TALL": [64, 128, 32], "BAND": [65536, 1, 16], "ROOM": [2, 1],
               "FIRST": [0, 2, 1]},
  "constraints": ["WIDE * TALL == 4096", "FIRST < 1 + (BAND > 1) * 2"],
  "tensor_maps": {
    "x_map": {"tensor": "x", "box": [32, "TALL"], "swizzle": 128, "l2_promotion": 256,
              "when": "N % 4 == 0"}
  },
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(N, WIDE) * ceil_div(M, TALL)", 1, 1], "block": [128, 1, 1],
     "shared_bytes": "(4 * WIDE * TALL + 1024) * ROOM", "args": ["x_map", "x", "y", "M", "N", "N % 4 == 0"]}
  ]
}
*/
// y[n, m] = x[m, n]; x: [M, N], y: [N, M], both row-major.
//
// A block moves one tile of TALL rows by WIDE columns of x. TMA brings it in boxes of 32 columns, swizzled, so no
// register holds what is on its way. A thread then reads four float4 of four rows, which its registers hold transposed,
// and writes four float4 of four rows of y; a warp writes whole lines of 128 bytes and meets no bank twice.
//
// Memory bounds it, and there the order of the blocks matters. They take BAND tiles downwards before they step to the
// right. With a large BAND those that run together complete rows of y; with BAND=1 they read whole rows of x. ROOM
// multiplies the shared memory of a block and so divides the bytes under way. FIRST names what L2 gives up first: 1
// lines of x, 2 lines of y, 0 neither. Rows of x that are not aligned to 16 bytes are fetched element by element, and
// such rows of y are written so.
//
// H200, 2026-11-27, 8192 x 8192: 133 us in a campaign, 91 % of the bound. With ROOM=1 135 us; with BAND=1, too, 141 us.
#include <cuda.h>

#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

constexpr int kBlock = 128, kWarps = kBlock / 32;
constexpr int kBoxBytes = TALL * 128;  // 32 columns
constexpr int kUnitsDown = TALL / 32;  // a warp turns units of 32 x 16 elements
constexpr int kTurns = WIDE * TALL / (512 * kWarps);

__device__ __forceinline__ void fetch(unsigned to, const CUtensorMap* map, int n, int m, unsigned barrier) {
  if constexpr (FIRST == 1) {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(map), "r"(n), "r"(m), "r"(barrier), "l"(policy)
        : "memory");
  } else {
    kw::tma::load(to, map, n, m, barrier);
  }
}

__device__ __forceinline__ void store(float* to, float a, float b, float c, float d) {
  if constexpr (FIRST == 2) {
    __stcs((float4*)to, make_float4(a, b, c, d));
  } else {
    *(float4*)to = make_float4(a, b, c, d);
  }
}

// Bytes from the start of the tile to four columns of a row; quad: n / 4 within the tile.
__device__ __forceinline__ int place(int row, int quad) {
  return quad / 8 * kBoxBytes + kw::swizzled(row, quad % 8);
}

extern "C" __global__ void __launch_bounds__(kBlock)
    transpose(const __grid_constant__ CUtensorMap x_map, const float* __restrict__ x, float* __restrict__ y, int M,
              int N, int mapped) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long arrival;
  const unsigned raw_at = kw::shared_address(raw), tile_at = kw::round_up(raw_at, 1024);
  unsigned char* tile = raw + (tile_at - raw_at);

  const unsigned across = (N + WIDE - 1) / WIDE, down = (M + TALL - 1) / TALL;
  unsigned tile_m, tile_n;
  if (down <= BAND) {
    tile_n = blockIdx.x / down;
    tile_m = blockIdx.x - tile_n * down;
  } else {
    const unsigned band = blockIdx.x / (BAND * across), within = blockIdx.x - band * BAND * across;
    const unsigned rows = min((unsigned)BAND, down - band * BAND);
    tile_n = within / rows;
    tile_m = band * BAND + (within - tile_n * rows);
  }
  const int m0 = tile_m * TALL, n0 = tile_n * WIDE, t = threadIdx.x;

  if (mapped) {
    const unsigned barrier = kw::shared_address(&arrival);
    if (t == 0) {
      kw::mbarrier::init(barrier, 1);
      kw::tma::fence();
      const int boxes = (min(WIDE, N - n0) + 31) / 32;
      kw::mbarrier::expect(barrier, boxes * kBoxBytes);
      for (int b = 0; b < boxes; ++b) fetch(tile_at + b * kBoxBytes, &x_map, n0 + 32 * b, m0, barrier);
    }
    __syncthreads();  // the barrier is set up
    kw::mbarrier::wait(barrier, 0);
  } else {
#pragma unroll 8
    for (int e = t; e < WIDE * TALL; e += kBlock) {
      const int row = e / WIDE, column = e % WIDE, m = m0 + row, n = n0 + column;
      *(float*)(tile + place(row, column / 4) + column % 4 * 4) = m < M && n < N ? x[(size_t)m * N + n] : 0.0f;
    }
    __syncthreads();
  }

  if (M % 4 == 0) {
    const int lane = t % 32, warp = t / 32;
    const int row = lane / 8 * 8 + lane / 4 % 2 * 4, quad = lane % 4;  // eight lanes read eight different chunks
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      const int u = turn * kWarps + warp;
      const int r = u % kUnitsDown * 32 + row, q = u / kUnitsDown * 4 + quad, m = m0 + r, n = n0 + 4 * q;
      if (m >= M || n >= N) continue;
      const float4 a = *(const float4*)(tile + place(r, q));
      const float4 b = *(const float4*)(tile + place(r + 1, q));
      const float4 c = *(const float4*)(tile + place(r + 2, q));
      const float4 d = *(const float4*)(tile + place(r + 3, q));
      float* to = y + (size_t)n * M + m;
      store(to, a.x, b.x, c.x, d.x);
      if (n + 1 < N) store(to + M, a.y, b.y, c.y, d.y);
      if (n + 2 < N) store(to + 2 * (size_t)M, a.z, b.z, c.z, d.z);
      if (n + 3 < N) store(to + 3 * (size_t)M, a.w, b.w, c.w, d.w);
    }
    return;
  }
#pragma unroll 8
  for (int e = t; e < WIDE * TALL; e += kBlock) {
    const int row = e % TALL, column = e / TALL, m = m0 + row, n = n0 + column;
    if (m < M && n < N) y[(size_t)n * M + m] = *(const float*)(tile + place(row, column / 4) + column % 4 * 4);
  }
}
