/* kernelwright
{
  "problem": "mla_decode_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "blocks take equal shares of all pages: TMA, two warpgroups with wgmma, then a combine launch",
  "tunables": {"BLOCKS": [132, 264], "MULTICAST": [0, 1], "LAZY": [1, 0]},
  "workspace": {
    "parts": {"bytes": "262144 * max(BLOCKS, ceil_div(H, 64))"},
    "stats": {"bytes": "1024 * max(BLOCKS, ceil_div(H, 64))"}
  },
  "tensor_maps": {
    "q_map": {"tensor": "q", "box": [64, 64, 1], "swizzle": 128},
    "page_map": {"tensor": "cache", "shape": [576, "64 * P"], "box": [64, 64], "swizzle": 128,
                 "l2_promotion": 256},
    "half_map": {"tensor": "cache", "shape": [576, "64 * P"], "box": [64, 32], "swizzle": 128,
                 "l2_promotion": 256}
  },
  "launches": [
    {"kernel": "attend", "grid": ["ceil_div(H, 64)", "max(1, BLOCKS / ceil_div(H, 64))", 1], "block": [384, 1, 1],
     "shared_bytes": 230400, "cluster": ["1 + MULTICAST * (H > 64)", 1, 1],
     "args": ["q_map", "page_map", "half_map", "table", "lengths", "o", "parts", "stats", "scale", "B", "H", "M"]},
    {"kernel": "combine", "grid": ["ceil_div(B * H, 4)", 1, 1], "block": [128, 1, 1], "overlaps_previous": true,
     "args": ["parts", "stats", "lengths", "o", "scale", "B", "H", "max(1, BLOCKS / ceil_div(H, 64))"]}
  ]
}
*/
// o = sum_{j < length} p[j] c[j], p = softmax_{j < length}(scale * (q . c[j])); q: [B, H, 576], o: [B, H, 512]; c[j]
// is position j % 64 of page table[b, j / 64] of the cache [P, 64, 576], its first 512 elements are the value.
//
// After FlashMLA (DeepSeek, 2025). A block owns up to 64 heads; fewer leave rows of the products empty. The pages of
// all sequences form one list, of which each block takes an equal share: the end of one sequence, some whole ones, and
// the begin of another. A sequence within one share goes straight to o. For another, each block writes its part, with
// the largest score and the sum of weights (parts, stats), and the second launch combines them.
//
// A page is loaded once, as nine boxes of 64 columns, into one of two buffers. One thread of the last warpgroup loads
// each box as soon as its last reader has left it. The first warpgroup makes all scores and their weights and hands
// these to the second through shared memory. Then both multiply them by the values: the first for columns 0 to 255 of
// o, the second for the others. With MULTICAST, two blocks for the halves of more than 64 heads form a cluster: each
// loads half of the rows of each box and sends them to both.
//
// A softmax is right with any base near the maximum. With LAZY, a head changes its base only where a score exceeds it
// by more than 8 in the exponent of 2, so that sums are seldom rescaled.
#include <cuda.h>
#include <cuda_bf16.h>
#include <kw/cluster.cuh>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int kColumns = 512, kRows = 64, kKeys = 64, kMostSequences = 256;
constexpr int kBoxes = 9, kBox = 8192, kTile = kBoxes * kBox, kRope = 8;  // bytes; kRope: the box that has no values
// Barriers, by number. A buffer has one for each of its boxes, and when it is empty one for each group of boxes.
constexpr int kQueriesFull = 0, kQueriesEmpty = 1, kWeightsFull = 2, kWeightsEmpty = 3, kFull = 4,
              kEmpty = kFull + 2 * kBoxes, kBarriers = kEmpty + 2 * 3;
constexpr int kLeft = 0, kRight = 1, kLast = 2;  // groups of boxes: 0 to 3, 4 to 7, 8

__device__ __forceinline__ float exponential(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ int tiles_of(int length) { return (length + kKeys - 1) / kKeys; }

struct Block {
  unsigned queries, tiles, weights, barriers;  // addresses in shared memory
  const int* before;                           // tiles of the sequences before this one
  float* of_rows;                              // of each row: by what older sums shrink, or at the end the total
  int start, end;                              // the share, in tiles
  bool pair;                                   // two blocks share pages
  int rank;                                    // of those two

  __device__ __forceinline__ unsigned barrier(int number) const { return barriers + 8 * number; }
  __device__ __forceinline__ unsigned full(int stage, int box) const { return barrier(kFull + stage * kBoxes + box); }
  __device__ __forceinline__ unsigned empty(int stage, int group) const { return barrier(kEmpty + stage * 3 + group); }
};
struct Tensors {
  const int *table, *lengths;
  __nv_bfloat16* o;
  float *parts, *stats;
  float scale;
  int B, H, M;
};

__device__ __forceinline__ void produce(const CUtensorMap* q_map, const CUtensorMap* page_map,
                                        const CUtensorMap* half_map, const Block& block, const Tensors& t) {
  Ring<2> ring;
  int sequence = 0, queries_of = -1, piece = 0;
  const auto page_of = [&](int tile) {
    if (tile >= block.end) return 0;
    while (tile >= block.before[sequence + 1]) ++sequence;
    return __ldg(t.table + (size_t)sequence * t.M + (tile - block.before[sequence]));
  };
  int next_page = page_of(block.start);
  for (int tile = block.start; tile < block.end; ++tile, ring.advance()) {
    const int page = next_page, of = sequence;
    next_page = page_of(tile + 1);
    const auto load = [&](int box) {
      const unsigned full = block.full(ring.stage, box);
      const unsigned to = block.tiles + ring.stage * kTile + box * kBox;
      mbarrier::expect(full, kBox);
      if (block.pair) {
        tma::load_multicast<2>(to + block.rank * (kBox / 2), half_map, 64 * box, page * 64 + block.rank * 32, full);
      } else {
        tma::load(to, page_map, 64 * box, page * 64, full);
      }
    };
    // A first wait for an empty buffer, for parity 1, returns at once.
    mbarrier::wait(block.empty(ring.stage, kLast), ring.phase ^ 1);
    load(kRope);
    mbarrier::wait(block.empty(ring.stage, kLeft), ring.phase ^ 1);
    for (int box = 0; box < 4; ++box) load(box);
    mbarrier::wait(block.empty(ring.stage, kRight), ring.phase ^ 1);
    for (int box = 4; box < 8; ++box) load(box);
    if (of != queries_of) {
      queries_of = of;
      mbarrier::wait(block.barrier(kQueriesEmpty), piece++ % 2 ^ 1);
      const unsigned full = block.barrier(kQueriesFull);
      mbarrier::expect(full, kTile);
      for (int box = 0; box < kBoxes; ++box) {
        tma::load(block.queries + box * kBox, q_map, 64 * box, blockIdx.x * kRows, of, full);
      }
    }
  }
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// Half of o for a piece of a sequence, or of its part. total: of the thread's two rows.
__device__ __forceinline__ void store(const float (&out)[128], const float (&total)[2], bool whole, size_t slot,
                                      int sequence, int row, int column, int lane, const Tensors& t) {
  const int h0 = blockIdx.x * kRows;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int of = row + 8 * r;
    if (whole) {
      const float by = 1.0f / total[r];
      __nv_bfloat16* to = t.o + ((size_t)sequence * t.H + h0 + of) * kColumns + column + lane % 4 * 8;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        unsigned w[4];
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          w[c] = pack_bf16(out[16 * j + 4 * c + 2 * r] * by, out[16 * j + 4 * c + 2 * r + 1] * by);
        }
        transpose(w, lane);
        if (h0 + of < t.H) *(uint4*)(to + 32 * j) = make_uint4(w[0], w[1], w[2], w[3]);
      }
    } else if (h0 + of < t.H) {
      float* to = t.parts + (slot * kRows + of) * kColumns + column + lane % 4 * 2;
#pragma unroll
      for (int j = 0; j < 32; ++j) *(float2*)(to + 8 * j) = make_float2(out[4 * j + 2 * r], out[4 * j + 2 * r + 1]);
    }
  }
}
__device__ __forceinline__ void rescale(float (&out)[128], const float (&keep)[2]) {
  if (__any_sync(0xffffffffu, keep[0] != 1.0f || keep[1] != 1.0f)) {
#pragma unroll
    for (int i = 0; i < 128; ++i) out[i] *= keep[i / 2 % 2];
  }
}

// kScores: the first warpgroup, which also makes the weights.
template <bool kScores>
__device__ __forceinline__ void consume(const Block& block, const Tensors& t) {
  // By a shuffle, so that the compiler knows that a warp has one value, and keeps descriptors in uniform registers.
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32 % 4, 0), lane = threadIdx.x % 32;
  const int row = warp * 16 + lane / 4;  // the thread's first one
  constexpr int column = kScores ? 0 : kColumns / 2;
  const float by = t.scale * 1.4426950408889634f;
  const auto leave = [&](unsigned barrier) {
    if (lane == 0) mbarrier::arrive(barrier);
  };
  const auto leave_boxes = [&](int stage, int group) {
    if (block.pair) {
      if (lane < 2) mbarrier::arrive_at<2>(block.empty(stage, group), lane);
    } else {
      leave(block.empty(stage, group));
    }
  };
  const unsigned weights_full = block.barrier(kWeightsFull), weights_empty = block.barrier(kWeightsEmpty);
  Ring<2> ring;
  int turn = 0, piece = 0, sequence = 0;  // turn: of the weights, and one for the totals of a piece
  int tile = __shfl_sync(0xffffffffu, block.start, 0);
  const int end = __shfl_sync(0xffffffffu, block.end, 0);
  for (; tile < end; ++piece) {
    while (tile >= block.before[sequence + 1]) ++sequence;
    const int first = tile, behind = block.before[sequence + 1];
    const int last = __shfl_sync(0xffffffffu, behind < block.end ? behind : block.end, 0);
    int left = t.lengths[sequence] - (tile - block.before[sequence]) * kKeys;
    float out[128], base[2] = {-INFINITY, -INFINITY}, total[2] = {};
#pragma unroll
    for (int i = 0; i < 128; ++i) out[i] = 0.0f;
    if constexpr (kScores) mbarrier::wait(block.barrier(kQueriesFull), piece % 2);

    for (; tile < last; ++tile, left -= kKeys, ring.advance(), ++turn) {
      const unsigned keys = block.tiles + ring.stage * kTile;
      if constexpr (kScores) {
        float scores[32];
#pragma unroll
        for (int i = 0; i < 32; ++i) scores[i] = 0.0f;
        const unsigned long long q = wgmma::k_major_tile(block.queries), k = wgmma::k_major_tile(keys);
        wgmma::settle(scores);
        wgmma::fence();
#pragma unroll
        for (int n = 0; n < kBoxes; ++n) {  // in the order in which they are loaded
          const int box = n == 0 ? kRope : n - 1;
          mbarrier::wait(block.full(ring.stage, box), ring.phase);
          wgmma::fence();
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            wgmma::multiply<wgmma::bf16>(scores, q + box * (kBox >> 4) + 2 * i, k + box * (kBox >> 4) + 2 * i,
                                         n + i > 0);
          }
        }
        wgmma::commit();
        wgmma::wait<0>();
        wgmma::settle(scores);
        leave_boxes(ring.stage, kLast);
        if (tile + 1 == last) leave(block.barrier(kQueriesEmpty));

        if (left < kKeys) {
#pragma unroll
          for (int i = 0; i < 32; ++i) {
            if (i / 4 * 8 + lane % 4 * 2 + i % 2 >= left) scores[i] = -INFINITY;
          }
        }
        float keep[2];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float top = fmaxf(scores[2 * r], scores[2 * r + 1]);
#pragma unroll
          for (int i = 1; i < 8; ++i) top = fmaxf(top, fmaxf(scores[4 * i + 2 * r], scores[4 * i + 2 * r + 1]));
          top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
          top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
          top = LAZY && (top - base[r]) * by <= 8.0f ? base[r] : fmaxf(top, base[r]);
          keep[r] = exponential((base[r] - top) * by);
          base[r] = top;
          float sum = 0.0f;
#pragma unroll
          for (int i = 0; i < 16; ++i) {
            float& x = scores[i / 2 * 4 + 2 * r + i % 2];
            x = exponential((x - top) * by);
            sum += x;
          }
          total[r] = total[r] * keep[r] + sum;
        }
        unsigned p[16];
#pragma unroll
        for (int i = 0; i < 16; ++i) p[i] = pack_bf16(scores[2 * i], scores[2 * i + 1]);

        mbarrier::wait(weights_empty, turn % 2 ^ 1);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const int of = warp * 16 + lane / 8 % 2 * 8 + lane % 8, chunk = 2 * j + lane / 16;
          store_matrices(block.weights + swizzled(of, chunk), p[4 * j], p[4 * j + 1], p[4 * j + 2], p[4 * j + 3]);
        }
        if (lane % 4 == 0) {
          block.of_rows[row] = keep[0];
          block.of_rows[row + 8] = keep[1];
        }
        tma::fence();
        __syncwarp();
        leave(weights_full);
        rescale(out, keep);

        const unsigned long long v = wgmma::mn_major_tile(keys, kBox);
        wgmma::settle(out);
        wgmma::settle(p);
        wgmma::fence();
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          wgmma::multiply<wgmma::bf16, wgmma::mn_major>(out, p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3],
                                                        v + i * (2048 >> 4), 1);
        }
        wgmma::commit();
        wgmma::wait<0>();
        wgmma::settle(out);
        leave_boxes(ring.stage, kLeft);
      } else {
        mbarrier::wait(weights_full, turn % 2);
        const float keep[2] = {block.of_rows[row], block.of_rows[row + 8]};
        rescale(out, keep);
#pragma unroll
        for (int box = 4; box < 8; ++box) mbarrier::wait(block.full(ring.stage, box), ring.phase);
        const unsigned long long p = wgmma::k_major_tile(block.weights),
                                 v = wgmma::mn_major_tile(keys + 4 * kBox, kBox);
        wgmma::settle(out);
        wgmma::fence();
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          wgmma::multiply<wgmma::bf16, wgmma::mn_major>(out, p + 2 * i, v + i * (2048 >> 4), 1);
        }
        wgmma::commit();
        wgmma::wait<0>();
        wgmma::settle(out);
        __syncwarp();
        leave_boxes(ring.stage, kRight);
        leave(weights_empty);
      }
    }

    const bool whole = first == block.before[sequence] && last == behind;
    const size_t slot = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * 2 + (first > block.start);
    if constexpr (kScores) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        total[r] += __shfl_xor_sync(0xffffffffu, total[r], 1);
        total[r] += __shfl_xor_sync(0xffffffffu, total[r], 2);
      }
      mbarrier::wait(weights_empty, turn % 2 ^ 1);
      if (lane % 4 == 0) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const int of = row + 8 * r;
          block.of_rows[of] = total[r];
          if (!whole) *(float2*)(t.stats + (slot * kRows + of) * 2) = make_float2(base[r], total[r]);
        }
      }
      __syncwarp();
      leave(weights_full);
    } else {
      mbarrier::wait(weights_full, turn % 2);
      total[0] = block.of_rows[row];
      total[1] = block.of_rows[row + 8];
      __syncwarp();
      leave(weights_empty);
    }
    ++turn;
    store(out, total, whole, slot, sequence, row, column, lane, t);
  }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    attend(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap page_map,
           const __grid_constant__ CUtensorMap half_map, const int* __restrict__ table, const int* __restrict__ lengths,
           __nv_bfloat16* __restrict__ o, float* __restrict__ parts, float* __restrict__ stats, float scale, int B,
           int H, int M) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long all_barriers[kBarriers];
  __shared__ float of_rows[kRows];
  __shared__ int before[kMostSequences + 1];
  Block block;
  block.queries = round_up(shared_address(raw), 1024);
  block.tiles = block.queries + kTile;
  block.weights = block.tiles + 2 * kTile;
  block.barriers = shared_address(all_barriers);
  block.before = before;
  block.of_rows = of_rows;
  block.pair = MULTICAST && gridDim.x == 2;
  block.rank = blockIdx.x;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kBarriers; ++i) {
      const bool full = i == kQueriesFull || (i >= kFull && i < kEmpty);
      // The others: an arrival from each warp of a warpgroup, or of both blocks'.
      mbarrier::init(block.barrier(i), full ? 1 : i >= kEmpty && block.pair ? 8 : 4);
    }
    mbarrier::fence_init();
  }
  if (threadIdx.x / 32 == 4) {
    const int lane = threadIdx.x % 32;
    int sum = 0;
    if (lane == 0) before[0] = 0;
    for (int b0 = 0; b0 < B; b0 += 32) {
      const int b = b0 + lane;
      int upto = b < B ? tiles_of(lengths[b]) : 0;
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(0xffffffffu, upto, step);
        if (lane >= step) upto += other;
      }
      if (b < B) before[b + 1] = sum + upto;
      sum += __shfl_sync(0xffffffffu, upto, 31);
    }
  }
  if (block.pair) {
    cluster::sync<2>();  // barriers of the other block are ready
  } else {
    __syncthreads();
  }
  const int all = before[B], share = (all + gridDim.y - 1) / gridDim.y;
  block.start = blockIdx.y * share;
  block.end = block.start + share < all ? block.start + share : all;
  const Tensors t{table, lengths, o, parts, stats, scale, B, H, M};

  if (threadIdx.x >= 256) {
    warpgroup::keep_registers<40>();
    if (threadIdx.x == 256) produce(&q_map, &page_map, &half_map, block, t);
    __syncwarp();
  } else {
    warpgroup::take_registers<232>();
    if (threadIdx.x < 128) {
      consume<true>(block, t);
    } else {
      consume<false>(block, t);
    }
  }
  if (block.pair) cluster::sync<2>();  // a block stays while the other may arrive at its barriers
}

// A warp to each head of o whose sequence is in the shares of several blocks. splits: shares.
extern "C" __global__ void __launch_bounds__(128)
    combine(const float* __restrict__ parts, const float* __restrict__ stats, const int* __restrict__ lengths,
            __nv_bfloat16* __restrict__ o, float scale, int B, int H, int splits) {
  const int head = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (head >= B * H) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    return;
  }
  const int sequence = head / H, groups = (H + kRows - 1) / kRows;
  int begin = 0, all = 0;
  for (int b = lane; b < B; b += 32) {
    const int tiles = tiles_of(lengths[b]);
    all += tiles;
    begin += b < sequence ? tiles : 0;
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    all += __shfl_xor_sync(0xffffffffu, all, step);
    begin += __shfl_xor_sync(0xffffffffu, begin, step);
  }
  const int share = (all + splits - 1) / splits;
  const int first = begin / share, last = (begin + tiles_of(lengths[sequence]) - 1) / share;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (first == last) return;
  const auto row_of = [&](int block) {
    const size_t slot = ((size_t)block * groups + head % H / kRows) * 2 + (begin > block * share);
    return slot * kRows + head % H % kRows;
  };
  const float by = scale * 1.4426950408889634f;
  float largest = -INFINITY, total = 0.0f;
  for (int block = first; block <= last; ++block) largest = fmaxf(largest, stats[row_of(block) * 2]);
  float4 sums[4] = {};
  for (int block = first; block <= last; ++block) {
    const size_t row = row_of(block);
    const float2 stat = *(const float2*)(stats + row * 2);
    const float weight = exponential((stat.x - largest) * by);
    total += weight * stat.y;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float4 four = *(const float4*)(parts + row * kColumns + 128 * i + 4 * lane);
      sums[i].x += weight * four.x, sums[i].y += weight * four.y;
      sums[i].z += weight * four.z, sums[i].w += weight * four.w;
    }
  }
  const float share_of = 1.0f / total;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    *(uint2*)(o + (size_t)head * kColumns + 128 * i + 4 * lane) = make_uint2(
        pack_bf16(sums[i].x * share_of, sums[i].y * share_of), pack_bf16(sums[i].z * share_of, sums[i].w * share_of));
  }
}
