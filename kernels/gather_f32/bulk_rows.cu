/* kernelwright
{
  "problem": "gather_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "rows of x arrive by bulk copies in a ring of chunks in shared memory, from where warps gather",
  "tunables": {"CONSUMERS": [512, 768, 992, 256], "ITEMS": [4, 2, 8], "CHUNK": [4096, 8192, 16384], "BLOCKS": [132],
               "HINTS": [1, 2, 0]},
  "constraints": ["CONSUMERS * ITEMS <= 4096"],
  "launches": [
    {"kernel": "gather",
     "grid": ["BLOCKS * (4 - 3 * (N % 4 + J % 4 == 0) * (N >= 1024) * (N <= 57344))", 1, 1],
     "block": ["CONSUMERS + 32", 1, 1],
     "shared_bytes": "(N % 4 + J % 4 == 0) * (N >= 1024) * (N <= 57344) * 229376",
     "args": ["x", "index", "y", "M", "N", "J"]}
  ]
}
*/
// y[m, j] = x[m, index[m, j]]; x: [M, N], index, y: [M, J].
//
// A row of x is read at random, so it must lie where a random read is cheap. One block on each multiprocessor takes
// every BLOCKS-th row. One thread of it brings rows by bulk copies, in chunks, into a ring of 224 KB in shared memory:
// it reads ahead into what of the ring is free, also where that holds only a part of the next row. The other warps wait
// for a row's bytes at one mbarrier, gather four elements for each load of four indices, and release the row at
// another; each has the indices of its next ITEMS packs on their way, across the border of two rows as well. A row that
// crosses the end of the ring goes on at its beginning. Rows of less than 4 KB or more than 224 KB, or those whose
// length or whose indices' number is no multiple of 4, are read from global memory. Expected: 90 % of the bound where J
// is N. Not yet timed on a GPU.
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

constexpr int kRing = 229376, kSlots = kRing / CHUNK, kWarps = CONSUMERS / 32;

// HINTS marks as used once: 0 nothing, 1 indices, 2 indices and stores.
template <class V>
__device__ __forceinline__ V load(const V* from) {
  return HINTS > 0 ? __ldcs(from) : __ldg(from);
}
template <class V>
__device__ __forceinline__ void store(V* to, V value) {
  if constexpr (HINTS > 1) {
    __stcs(to, value);
  } else {
    *to = value;
  }
}

// Any shape, from global memory.
__device__ __forceinline__ void any_rows(const float* x, const int* index, float* y, int M, int N, int J) {
  const size_t elements = (size_t)M * J, stride = (size_t)blockDim.x * gridDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += stride) {
    const size_t row = i >> 32 == 0 ? (unsigned)i / (unsigned)J : i / J;
    y[i] = __ldg(x + row * N + index[i]);
  }
}

// One thread. The ring's slots hold chunks of CHUNK bytes; `full` and `empty` are barriers of rows, as many as slots,
// so that the row that used a barrier before has always been released.
__device__ __forceinline__ void produce(const float* x, int rows, int N, unsigned ring, unsigned full, unsigned empty) {
  const int row_bytes = 4 * N, chunks = (row_bytes + CHUNK - 1) / CHUNK;
  kw::Ring<kSlots> row, released;
  int slot = 0, released_rows = 0;
  for (int r = 0; r < rows; ++r, row.advance()) {
    const char* from = (const char*)(x + (size_t)(blockIdx.x + r * gridDim.x) * N);
    for (int c = 0; c < chunks; ++c) {
      // The chunk that lies in this slot is the one of kSlots chunks ago: its row must have been released.
      while (released_rows * chunks <= r * chunks + c - kSlots) {
        kw::mbarrier::wait(empty + 8 * released.stage, released.phase);
        released.advance();
        ++released_rows;
      }
      if (c == 0) kw::mbarrier::expect(full + 8 * row.stage, row_bytes);
      kw::tma::load_bytes(ring + slot * CHUNK, from + c * CHUNK, min(CHUNK, row_bytes - c * CHUNK),
                          full + 8 * row.stage);
      if (++slot == kSlots) slot = 0;
    }
  }
}

struct Row {
  const float* ring;
  int start;  // of the row in the ring, in elements

  __device__ __forceinline__ float at(int i) const {
    const int place = start + i;
    return ring[place < kRing / 4 ? place : place - kRing / 4];
  }
};

__device__ __forceinline__ void consume(const int* __restrict__ index, float* __restrict__ y, int rows, int N, int J,
                                        const float* ring, unsigned full, unsigned empty) {
  const int chunks = (4 * N + CHUNK - 1) / CHUNK, packs = J / 4;
  const int batches = (packs + CONSUMERS * ITEMS - 1) / (CONSUMERS * ITEMS);
  const size_t stride = (size_t)gridDim.x * packs;
  const int4* from = (const int4*)index + (size_t)blockIdx.x * packs;
  float4* to = (float4*)y + (size_t)blockIdx.x * packs;
  int4 indices[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const int p = threadIdx.x + k * CONSUMERS;
    if (p < packs) indices[k] = load(from + p);
  }
  kw::Ring<kSlots> turn;
  int slot = 0;
  for (int r = 0; r < rows; ++r, turn.advance()) {
    kw::mbarrier::wait(full + 8 * turn.stage, turn.phase);
    const Row row = {ring, slot * (CHUNK / 4)};
    slot += chunks;
    if (slot >= kSlots) slot -= kSlots;
    for (int b = 0; b < batches; ++b) {
      const bool last = b + 1 == batches, more = !last || r + 1 < rows;
      const int first = threadIdx.x + b * (CONSUMERS * ITEMS);
      const int left = packs - first, next_first = last ? (int)threadIdx.x : first + CONSUMERS * ITEMS;
      const int next_left = more ? packs - next_first : 0;
      const int4* next = (last ? from + stride : from) + next_first;
#pragma unroll
      for (int k = 0; k < ITEMS; ++k) {
        const int4 at = indices[k];
        float4 values;
        if (k * CONSUMERS < left) values = make_float4(row.at(at.x), row.at(at.y), row.at(at.z), row.at(at.w));
        if (k * CONSUMERS < next_left) indices[k] = load(next + k * CONSUMERS);
        if (k == ITEMS - 1 && last) {
          __syncwarp();  // all lanes have gathered
          if (threadIdx.x % 32 == 0) kw::mbarrier::arrive(empty + 8 * turn.stage);
        }
        if (k * CONSUMERS < left) store(to + first + k * CONSUMERS, values);
      }
    }
    from += stride;
    to += stride;
  }
}

extern "C" __global__ void __launch_bounds__(CONSUMERS + 32)
    gather(const float* __restrict__ x, const int* __restrict__ index, float* __restrict__ y, int M, int N, int J) {
  extern __shared__ __align__(128) float ring[];
  __shared__ __align__(8) unsigned long long barriers[2 * kSlots];
  if (N % 4 + J % 4 != 0 || N < 1024 || N > kRing / 4) {
    any_rows(x, index, y, M, N, J);
    return;
  }
  if ((int)blockIdx.x >= M) return;
  const int rows = (M - 1 - (int)blockIdx.x) / (int)gridDim.x + 1;  // of this block
  const unsigned full = kw::shared_address(barriers), empty = full + 8 * kSlots;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kSlots; ++s) {
      kw::mbarrier::init(full + 8 * s, 1);
      kw::mbarrier::init(empty + 8 * s, kWarps);
    }
    kw::mbarrier::fence_init();
  }
  __syncthreads();  // the barriers are set up
  if (threadIdx.x < CONSUMERS) {
    consume(index, y, rows, N, J, ring, full, empty);
  } else if (threadIdx.x == CONSUMERS) {
    kw::tma::fence();
    produce(x, rows, N, kw::shared_address(ring), full, empty);
  }
}
