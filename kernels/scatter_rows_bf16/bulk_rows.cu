/* kernelwright
{
  "problem": "scatter_rows_bf16",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "one warp of each resident block moves rows by bulk copies through a ring in shared memory",
  "tunables": {"CHUNK": [16384, 8192, 32768], "STAGES": [6, 12, 3], "BLOCKS": [264, 132, 396], "HINTS": [1, 0, 2]},
  "constraints": ["(CHUNK * STAGES + 2048) * BLOCKS <= 233472 * 132"],
  "launches": [
    {"kernel": "scatter_rows",
     "grid": ["min((1 + 7 * (1 - (N % 8 == 0) * (N >= 256))) * BLOCKS, ceil_div(M * N, 256))", 1, 1],
     "block": [32, 1, 1], "shared_bytes": "(N % 8 == 0) * (N >= 256) * CHUNK * STAGES",
     "args": ["x", "index", "y", "M", "N"]}
  ]
}
*/
// y[index[m], n] = x[m, n]; x, y: [M, N], index: [M], a permutation.
//
// Resident blocks take tiles of x in turn: as many rows as fit into CHUNK bytes, or a piece of a longer row. A tile
// comes by one bulk copy, which reports to the mbarrier of its stage, and leaves by one bulk copy for each row, which
// the row's own lane issues, so that no byte passes through registers. Lanes read the indices of their rows four tiles
// ahead. Half of the stages have loads under way while the other half are read by stores: the load into a stage waits
// only for the stores that were issued STAGES / 2 tiles ago. Rows shorter than 512 bytes, or whose length is no
// multiple of 16 bytes, go element by element. Expected: 90 % of the bound where a row has some kilobytes. Not yet
// timed on a GPU.
#include <cuda_bf16.h>
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

constexpr int kLag = STAGES / 2, kAhead = 4;

// HINTS: which copies leave their lines in L2 to be evicted first: 0 none, 1 loads, 2 loads and stores.
__device__ __forceinline__ unsigned long long evict_first() {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ __forceinline__ void load(unsigned to, const void* from, int bytes, unsigned barrier,
                                     unsigned long long policy) {
  if constexpr (HINTS > 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
            "r"(to),
        "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
        : "memory");
  } else {
    kw::tma::load_bytes(to, from, bytes, barrier);
  }
}
__device__ __forceinline__ void store(void* to, unsigned from, int bytes, unsigned long long policy) {
  if constexpr (HINTS > 1) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(to), "r"(from),
                 "r"(bytes), "l"(policy)
                 : "memory");
  } else {
    kw::tma::store_bytes(to, from, bytes);
  }
}

// The tiles of x. A tile has `rows` rows, or fewer at the end of x; or, where pieces > 1, one of a row's equal pieces,
// of which the last may be shorter.
struct Tiles {
  int M, row_bytes, rows, pieces, piece;

  __device__ __forceinline__ int count() const { return (M + rows - 1) / rows * pieces; }
  __device__ __forceinline__ int first_row(int tile) const { return tile / pieces * rows; }
  __device__ __forceinline__ int rows_of(int tile) const { return min(rows, M - first_row(tile)); }
  __device__ __forceinline__ int column(int tile) const { return tile % pieces * piece; }  // in bytes
  __device__ __forceinline__ int width(int tile) const { return min(piece, row_bytes - column(tile)); }
};

// Any shape, element by element.
__device__ __forceinline__ void any_rows(const __nv_bfloat16* x, const int* index, __nv_bfloat16* y, int M, int N) {
  const size_t elements = (size_t)M * N;
  for (size_t start = 32 * (size_t)blockIdx.x; start < elements; start += 32 * (size_t)gridDim.x) {
    const size_t i = start + threadIdx.x;
    if (i >= elements) return;
    const size_t row = i >> 32 == 0 ? (unsigned)i / (unsigned)N : i / N;
    y[(size_t)index[row] * N + (i - row * N)] = x[i];
  }
}

extern "C" __global__ void __launch_bounds__(32)
    scatter_rows(const __nv_bfloat16* __restrict__ x, const int* __restrict__ index, __nv_bfloat16* __restrict__ y,
                 int M, int N) {
  extern __shared__ __align__(128) unsigned char memory[];  // [STAGES, CHUNK]
  __shared__ __align__(8) unsigned long long arrivals[STAGES];
  if (N % 8 != 0 || N < 256) {
    any_rows(x, index, y, M, N);
    return;
  }

  const int lane = threadIdx.x, row_bytes = 2 * N;
  const int pieces = (row_bytes + CHUNK - 1) / CHUNK, piece = ((row_bytes + pieces - 1) / pieces + 15) / 16 * 16;
  const Tiles tiles = {M, row_bytes, max(1, min(32, CHUNK / row_bytes)), pieces, piece};
  const unsigned buffers = kw::shared_address(memory), full = kw::shared_address(arrivals);
  const unsigned long long policy = evict_first();
  const int first = blockIdx.x, stride = gridDim.x, count = tiles.count();
  const auto fetch = [&](int tile, int stage) {
    const int bytes = tiles.rows_of(tile) * tiles.width(tile);
    const char* from = (const char*)x + (size_t)tiles.first_row(tile) * row_bytes + tiles.column(tile);
    kw::mbarrier::expect(full + 8 * stage, bytes);
    load(buffers + stage * CHUNK, from, bytes, full + 8 * stage, policy);
  };
  const auto index_of = [&](int tile) {
    return tile < count && lane < tiles.rows_of(tile) ? __ldg(index + tiles.first_row(tile) + lane) : -1;
  };

  int to[kAhead];  // each lane's row of y, of this tile and the next ones
#pragma unroll
  for (int k = 0; k < kAhead; ++k) to[k] = index_of(first + k * stride);
  if (lane == 0) {
    for (int s = 0; s < STAGES; ++s) kw::mbarrier::init(full + 8 * s, 1);
    kw::mbarrier::fence_init();
    kw::tma::fence();
    for (int s = 0; s < STAGES && first + s * stride < count; ++s) fetch(first + s * stride, s);
  }
  __syncwarp();  // the barriers are set up

  kw::Ring<STAGES> ring, behind;
  int past = 0;  // tiles that have left, up to kLag
  for (int start = first; start < count; start += kAhead * stride) {
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const int tile = start + k * stride;
      if (tile >= count) break;
      const int width = tiles.width(tile);
      kw::mbarrier::wait(full + 8 * ring.stage, ring.phase);
      if (to[k] >= 0) {
        char* row = (char*)y + (size_t)to[k] * row_bytes + tiles.column(tile);
        store(row, buffers + ring.stage * CHUNK + lane * width, width, policy);
      }
      kw::tma::commit();
      to[k] = index_of(tile + kAhead * stride);
      ring.advance();
      if (past < kLag) {
        ++past;
        continue;
      }
      kw::tma::wait_read<kLag>();
      __syncwarp();  // all lanes' stores of that tile
      const int next = tile + (STAGES - kLag) * stride;
      if (lane == 0 && next < count) fetch(next, behind.stage);
      behind.advance();
    }
  }
  kw::tma::wait_read<0>();  // shared memory is given up with the block
}
