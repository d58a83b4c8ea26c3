/* kernelwright
{
  "problem": "varlen_attention_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent blocks draw tiles, long sequences first; TMA, GROUPS warpgroups of wgmma, lazy maximum",
  "tunables": {"GROUPS": [2, 3], "KEYS": [64, 128], "STAGES": [3, 2, 4, 5], "IN_TURNS": [0, 1], "HEADS": [4, 8, 16, 32],
               "POLY": [0, 8, 4], "BLOCKS": [132]},
  "constraints": ["(GROUPS == 2) + (KEYS == 64)", "32768 * GROUPS + 512 * KEYS * STAGES <= 229376"],
  "workspace": {"drawn": {"bytes": "4", "zeroed": true}},
  "tensor_maps": {
    "q_map": {"tensor": "q", "box": [64, 1, "64 * GROUPS"], "swizzle": 128},
    "k_map": {"tensor": "k", "box": [64, 1, "KEYS"], "swizzle": 128},
    "v_map": {"tensor": "v", "box": [64, 1, "KEYS"], "swizzle": 128}
  },
  "launches": [
    {"kernel": "attention", "grid": ["min(BLOCKS, H * (ceil_div(T, 64 * GROUPS) + S))", 1, 1],
     "block": ["128 * GROUPS + 128", 1, 1], "shared_bytes": "32768 * GROUPS + 512 * KEYS * STAGES + 1024",
     "args": ["q_map", "k_map", "v_map", "offsets", "o", "drawn", "H", "S"]}
  ]
}
*/
// o[i] = sum_{begin <= j <= i} p[j] v[j], p = softmax_{begin <= j <= i}(q[i] . k[j] / sqrt(128)) for each head, where
// begin is the last of the offsets up to i; q, k, v, o: [T, H, 128], offsets: [S + 1].
//
// FlashAttention-3 in plain CUDA (Shah et al., 2024) with a persistent grid. A tile is 64 * GROUPS queries of a head of
// one sequence, counted from the sequence's begin, so that only its last step of keys needs a mask. Each block sorts
// the sequences by length. Tiles are numbered from the longest sequence to the shortest; in a sequence HEADS heads at a
// time, so that their keys and values stay in L2; in these, the last queries first, which have most keys. Blocks draw
// numbers from a counter, since tiles differ in length.
//
// One thread of the last warpgroup draws tiles, streams queries, keys and values by TMA, and runs ahead into the next
// tile. Rows behind a sequence's end belong to the next one: their weights are 0, or their results are not stored. Each
// other warpgroup owns 64 queries: scores come from wgmma on shared memory, weights stay in registers and are the left
// operand of the second wgmma. A step starts its scores, then the sums of the step before, and computes exponentials
// while those sums run. With IN_TURNS the warpgroups issue products one after another. A group whose queries need fewer
// keys than the last group's only hands the rest on.
//
// A softmax is right with any base near the maximum. So only the first step of a tile looks for the maximum. Later ones
// take exponentials against that base at once; where a warp finds weights that add up to more than 64 in a thread, it
// computes these scores again, finds the new maximum, and rescales. Ordinary inputs hardly ever do. One exponential in
// POLY (0: none) is a polynomial on the FMA pipes.
#include <cuda.h>
#include <cuda_bf16.h>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int D = 128, kMostSequences = 64;
constexpr int kBox = KEYS * 128, kBytes = 2 * kBox;                           // keys of a step: two boxes of 64 columns
constexpr int kRows = 64 * GROUPS, kQBox = kRows * 128, kQBytes = 2 * kQBox;  // queries of a tile
constexpr int kScores = KEYS / 2, kPairs = KEYS / 4;                          // of a thread in a step
constexpr float kScale = 0.08838834764831845f * 1.4426950408889634f;
// Barriers, by number.
constexpr int kQueriesFull = 0, kQueriesEmpty = 2, kKeysFull = 4, kKeysEmpty = kKeysFull + STAGES,
              kValuesFull = kKeysEmpty + STAGES, kValuesEmpty = kValuesFull + STAGES,
              kBarriers = kValuesEmpty + STAGES;

// The sequences, longest first. `before`: tiles of the sequences before this one, in all heads.
struct Sequences {
  int length_of[kMostSequences];  // as they come
  int start[kMostSequences], length[kMostSequences], before[kMostSequences + 1];

  __device__ __forceinline__ static int tiles(int length) { return (length + kRows - 1) / kRows; }
  // By all threads of the block, more than there are sequences.
  __device__ __forceinline__ void sort(const int* offsets, int H, int S) {
    const int t = threadIdx.x;
    int own_start = 0, own = 0;
    if (t < S) {
      own_start = offsets[t];
      length_of[t] = own = offsets[t + 1] - own_start;
    }
    __syncthreads();
    if (t < S) {
      int rank = 0, tiles_before = 0;
      for (int s = 0; s < S; ++s) {
        const int other = length_of[s];
        const bool first = other > own || (other == own && s < t);
        rank += first;
        tiles_before += first ? tiles(other) : 0;
      }
      start[rank] = own_start;
      length[rank] = own;
      before[rank] = tiles_before * H;
      if (rank == S - 1) before[S] = (tiles_before + tiles(own)) * H;
    }
    __syncthreads();
  }
};

// What a consumer must know of a tile. head: -1 behind the last tile.
struct __align__(16) Tile {
  int start, first, length, head;
};

__device__ __forceinline__ int steps_to(int end, int length) {
  return ((end < length ? end : length) + KEYS - 1) / KEYS;
}

__device__ __forceinline__ void begin_scores(float (&scores)[kScores], unsigned long long q, unsigned long long k) {
  wgmma::settle(scores);
  wgmma::fence();
#pragma unroll
  for (int i = 0; i < D / 16; ++i) {
    const int q_at = i / 4 * (kQBox >> 4) + i % 4 * 2, k_at = i / 4 * (kBox >> 4) + i % 4 * 2;
    wgmma::multiply<wgmma::bf16>(scores, q + q_at, k + k_at, i > 0);
  }
  wgmma::commit();
}
__device__ __forceinline__ void begin_sums(float (&out)[D / 2], unsigned (&p)[kPairs], unsigned long long v) {
  wgmma::settle(out);
  wgmma::settle(p);
  wgmma::fence();
#pragma unroll
  for (int i = 0; i < KEYS / 16; ++i) {
    wgmma::multiply<wgmma::bf16, wgmma::mn_major>(out, p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3],
                                                  v + i * (2048 >> 4), 1);
  }
  wgmma::commit();
}

__device__ __forceinline__ unsigned load_word(unsigned address) {
  unsigned word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
  return word;
}
// The scores once more, by one warp alone. q: its 16 rows.
__device__ __forceinline__ void repeat_scores(float (&scores)[kScores], unsigned q, unsigned k, int lane) {
#pragma unroll
  for (int i = 0; i < kScores; ++i) scores[i] = 0.0f;
  const int row = lane / 4, at = lane % 4 * 4;
#pragma unroll 1
  for (int d = 0; d < D / 16; ++d) {
    const int low = swizzled(row, d % 4 * 2) + at, high = swizzled(row, d % 4 * 2 + 1) + at;
    const unsigned q_at = q + d / 4 * kQBox, k_at = k + d / 4 * kBox;
    const unsigned a0 = load_word(q_at + low), a1 = load_word(q_at + low + 1024), a2 = load_word(q_at + high),
                   a3 = load_word(q_at + high + 1024);
#pragma unroll
    for (int j = 0; j < KEYS / 8; ++j) {
      const unsigned b0 = load_word(k_at + 1024 * j + low), b1 = load_word(k_at + 1024 * j + high);
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(scores[4 * j]), "+f"(scores[4 * j + 1]), "+f"(scores[4 * j + 2]), "+f"(scores[4 * j + 3])
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
  }
}
// The last step. `seen`: the last of its keys that the thread's first row may see.
__device__ __forceinline__ void mask(float (&scores)[kScores], int seen, int lane) {
#pragma unroll
  for (int i = 0; i < kScores; ++i) {
    if (i / 4 * 8 + lane % 4 * 2 + i % 2 > seen + i / 2 % 2 * 8) scores[i] = -INFINITY;
  }
}

__device__ __forceinline__ float exponential(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// 2^x on the FMA pipes: x is a whole number, which goes to the exponent, and a rest of -0.5 to 0.5. Relative error
// 1.6e-7. Below -127: zero. Above 127, and for NaN: 2^127.
__device__ __forceinline__ float polynomial(float x) {
  x = fmaxf(fminf(x, 127.0f), -127.0f);
  const float whole = x + 12582912.0f;  // 1.5 * 2^23: the lowest bits are the whole number
  const float rest = x - (whole - 12582912.0f);
  float y = fmaf(rest, 0.0013264728f, 0.0096715133f);
  y = fmaf(y, rest, 0.0555073375f);
  y = fmaf(y, rest, 0.2402224208f);
  y = fmaf(y, rest, 0.6931469776f);
  y = fmaf(y, rest, 1.0f);
  return __int_as_float(__float_as_int(y) + (int)((unsigned)__float_as_int(whole) << 23));
}

// A thread has two rows. Their weights are exp2(kScale * (score - base)).
struct Rows {
  float base[2], total[2], keep[2];  // keep: by what older sums shrink
  bool far;                          // of the warp: the product with kScale may not be rounded before the difference

  // Scores become weights, and their sums come back.
  __device__ __forceinline__ void weigh(float (&scores)[kScores], float (&sum)[2]) const {
    float by[2] = {base[0] * kScale, base[1] * kScale};
    if (far) {
#pragma unroll
      for (int i = 0; i < kScores; ++i) scores[i] -= base[i / 2 % 2];
      by[0] = by[1] = 0.0f;
    }
    sum[0] = sum[1] = 0.0f;
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      const float x = fmaf(scores[i], kScale, -by[i / 2 % 2]);
      scores[i] = POLY && i % (POLY + !POLY) == POLY - 1 ? polynomial(x) : exponential(x);
      sum[i / 2 % 2] += scores[i];
    }
  }
  // With the base of the steps before. False: these weights are too large, all lanes.
  __device__ __forceinline__ bool try_weigh(float (&scores)[kScores]) {
    float sum[2];
    weigh(scores, sum);
    if (__any_sync(0xffffffffu, !(sum[0] <= 64.0f && sum[1] <= 64.0f))) return false;
    total[0] += sum[0];
    total[1] += sum[1];
    return true;
  }
  // With the maximum so far as the new base.
  __device__ __forceinline__ void weigh_anew(float (&scores)[kScores]) {
    float sum[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float top = base[r];
#pragma unroll
      for (int i = 0; i < kScores / 2; ++i) top = fmaxf(top, scores[i / 2 * 4 + 2 * r + i % 2]);
      top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
      top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
      keep[r] = exponential((base[r] - top) * kScale);
      base[r] = top;
    }
    far = __any_sync(0xffffffffu, fmaxf(fabsf(base[0]), fabsf(base[1])) * kScale > 1024.0f);
    weigh(scores, sum);
    total[0] = total[0] * keep[0] + sum[0];
    total[1] = total[1] * keep[1] + sum[1];
  }
};
__device__ __forceinline__ void pack(unsigned (&p)[kPairs], const float (&scores)[kScores]) {
#pragma unroll
  for (int i = 0; i < kPairs; ++i) p[i] = pack_bf16(scores[2 * i], scores[2 * i + 1]);
}

// to: the thread's first row in this head, from its first column on; rows: how many are left from there on.
__device__ __forceinline__ void finish(const float (&out)[D / 2], const float (&total)[2], __nv_bfloat16* to,
                                       size_t stride, int rows, int lane) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float all = total[r];
    all += __shfl_xor_sync(0xffffffffu, all, 1);
    all += __shfl_xor_sync(0xffffffffu, all, 2);
    const float by = 1.0f / all;
#pragma unroll
    for (int j = 0; j < D / 32; ++j) {
      unsigned w[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        w[c] = pack_bf16(out[16 * j + 4 * c + 2 * r] * by, out[16 * j + 4 * c + 2 * r + 1] * by);
      }
      transpose(w, lane);
      if (8 * r < rows) *(uint4*)(to + 8 * r * stride + 32 * j) = make_uint4(w[0], w[1], w[2], w[3]);
    }
  }
}

// Two boxes of 64 columns.
__device__ __forceinline__ void load(unsigned to, const CUtensorMap* map, int box, int head, int token, unsigned full) {
  mbarrier::expect(full, 2 * box);
  tma::load(to, map, 0, head, token, full);
  tma::load(to + box, map, 64, head, token, full);
}
__device__ __forceinline__ void produce(const CUtensorMap* q_map, const CUtensorMap* k_map, const CUtensorMap* v_map,
                                        const Sequences& sequences, Tile* places, unsigned* drawn, unsigned tiles,
                                        unsigned barriers, int H, int S) {
  Ring<2> queries;
  Ring<STAGES> keys, values;  // a first wait for an empty buffer, for parity 1, returns at once
  int value_head = -1, value_token = 0, rank = 0;
  const int count = sequences.before[S];
  const auto load_values = [&] {
    mbarrier::wait(barriers + 8 * (kValuesEmpty + values.stage), values.phase ^ 1);
    load(tiles + 2 * kQBytes + (STAGES + values.stage) * kBytes, v_map, kBox, value_head, value_token,
         barriers + 8 * (kValuesFull + values.stage));
    values.advance();
  };
  for (int number = blockIdx.x; number < count;) {
    const int next = gridDim.x + atomicAdd(drawn, 1);  // early, since it takes a while
    while (number >= sequences.before[rank + 1]) ++rank;
    const int start = sequences.start[rank], length = sequences.length[rank], within = number - sequences.before[rank];
    const int blocks = Sequences::tiles(length), part = within / (HEADS * blocks), place = within % (HEADS * blocks);
    const int members = H - part * HEADS < HEADS ? H - part * HEADS : HEADS;
    const int head = part * HEADS + place % members, first = (blocks - 1 - place / members) * kRows;
    mbarrier::wait(barriers + 8 * (kQueriesEmpty + queries.stage), queries.phase ^ 1);
    places[queries.stage] = {start, first, length, head};
    load(tiles + queries.stage * kQBytes, q_map, kQBox, head, start + first,
         barriers + 8 * (kQueriesFull + queries.stage));
    queries.advance();
    // The values of a step are fetched behind the keys of the next one, be it in the next tile.
    const int steps = steps_to(first + kRows, length);
    for (int step = 0; step < steps; ++step) {
      mbarrier::wait(barriers + 8 * (kKeysEmpty + keys.stage), keys.phase ^ 1);
      load(tiles + 2 * kQBytes + keys.stage * kBytes, k_map, kBox, head, start + step * KEYS,
           barriers + 8 * (kKeysFull + keys.stage));
      keys.advance();
      if (value_head >= 0) load_values();
      value_head = head;
      value_token = start + step * KEYS;
    }
    number = next;
  }
  if (value_head >= 0) load_values();
  mbarrier::wait(barriers + 8 * (kQueriesEmpty + queries.stage), queries.phase ^ 1);
  places[queries.stage].head = -1;
  mbarrier::arrive(barriers + 8 * (kQueriesFull + queries.stage));
}

__device__ __forceinline__ void consume(const Tile* places, unsigned tiles, unsigned barriers, __nv_bfloat16* o,
                                        int H) {
  // By a shuffle, so that the compiler knows that a warp has one value, and keeps descriptors in uniform registers.
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), group = warp / 4, lane = threadIdx.x % 32;
  const int row = warp * 16 + lane / 4;  // the thread's first one, of the tile
  Ring<STAGES> keys, values;
  const auto leave = [&](int number) {
    if (lane == 0) mbarrier::arrive(barriers + 8 * number);
  };
  // Group g waits at named barrier 1 + g until the group before it has issued its products of the step. An arrival is
  // left over when all is done: the first group waits for it.
  const int mine = 1 + group, next = 1 + (group + 1) % GROUPS;
  if (IN_TURNS && group == GROUPS - 1) warpgroup::arrive<256>(1);

  for (unsigned turn = 0;; ++turn) {
    mbarrier::wait(barriers + 8 * (kQueriesFull + turn % 2), turn / 2 % 2);
    const Tile tile = places[turn % 2];
    __syncwarp();
    if (tile.head < 0) break;
    const int first = __shfl_sync(0xffffffffu, tile.first, 0), length = __shfl_sync(0xffffffffu, tile.length, 0);
    const int all = steps_to(first + kRows, length);
    const int own = first + 64 * group < length ? steps_to(first + 64 * group + 64, length) : 0;
    int step = 0;
    if (own > 0) {
      const unsigned q_at = tiles + turn % 2 * kQBytes + group * 64 * 128;
      const unsigned long long q = wgmma::k_major_tile(q_at);
      const auto key_at = [&] { return tiles + 2 * kQBytes + keys.stage * kBytes; };
      const auto value = [&] {
        return wgmma::mn_major_tile(tiles + 2 * kQBytes + (STAGES + values.stage) * kBytes, kBox);
      };
      const int seen = first + row - (own - 1) * KEYS;  // for the last step
      float out[D / 2], scores[kScores];
      unsigned p[kPairs];
      Rows rows;
      rows.base[0] = rows.base[1] = -INFINITY;
      rows.total[0] = rows.total[1] = 0.0f;
#pragma unroll
      for (int i = 0; i < D / 2; ++i) out[i] = 0.0f;
#pragma unroll
      for (int i = 0; i < kScores; ++i) scores[i] = 0.0f;

      mbarrier::wait(barriers + 8 * (kKeysFull + keys.stage), keys.phase);
      begin_scores(scores, q, wgmma::k_major_tile(key_at()));
      wgmma::wait<0>();
      wgmma::settle(scores);
      leave(kKeysEmpty + keys.stage);
      keys.advance();
      if (own == 1) mask(scores, seen, lane);
      rows.weigh_anew(scores);
      pack(p, scores);
      for (step = 1; step < own; ++step) {
        mbarrier::wait(barriers + 8 * (kKeysFull + keys.stage), keys.phase);
        if (IN_TURNS) warpgroup::sync<256>(mine);
        begin_scores(scores, q, wgmma::k_major_tile(key_at()));
        mbarrier::wait(barriers + 8 * (kValuesFull + values.stage), values.phase);
        begin_sums(out, p, value());
        if (IN_TURNS) warpgroup::arrive<256>(next);
        wgmma::wait<1>();
        wgmma::settle(scores);
        if (step + 1 == own) mask(scores, seen, lane);
        if (!rows.try_weigh(scores)) {
          wgmma::wait<0>();
          wgmma::settle(out);
          repeat_scores(scores, q_at + warp % 4 * 2048, key_at(), lane);
          if (step + 1 == own) mask(scores, seen, lane);
          rows.weigh_anew(scores);
#pragma unroll
          for (int i = 0; i < D / 2; ++i) out[i] *= rows.keep[i / 2 % 2];
          __syncwarp();
        }
        leave(kKeysEmpty + keys.stage);
        keys.advance();
        wgmma::wait<0>();
        wgmma::settle(out);
        leave(kValuesEmpty + values.stage);
        values.advance();
        pack(p, scores);
      }
      leave(kQueriesEmpty + turn % 2);
      mbarrier::wait(barriers + 8 * (kValuesFull + values.stage), values.phase);
      begin_sums(out, p, value());
      wgmma::wait<0>();
      wgmma::settle(out);
      leave(kValuesEmpty + values.stage);
      values.advance();
      const size_t stride = (size_t)H * D;
      finish(out, rows.total, o + (tile.start + first + row) * stride + tile.head * D + lane % 4 * 8, stride,
             length - first - row, lane);
    } else {
      leave(kQueriesEmpty + turn % 2);
    }
#pragma unroll 1
    for (; step < all; ++step) {  // the group has no use for these keys
      mbarrier::wait(barriers + 8 * (kKeysFull + keys.stage), keys.phase);
      leave(kKeysEmpty + keys.stage);
      keys.advance();
      if (IN_TURNS && step > 0) {
        warpgroup::sync<256>(mine);
        warpgroup::arrive<256>(next);
      }
      mbarrier::wait(barriers + 8 * (kValuesFull + values.stage), values.phase);
      leave(kValuesEmpty + values.stage);
      values.advance();
    }
  }
  if (IN_TURNS && group == 0) warpgroup::sync<256>(1);
}

extern "C" __global__ void __launch_bounds__(128 * GROUPS + 128, 1)
    attention(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
              const __grid_constant__ CUtensorMap v_map, const int* offsets, __nv_bfloat16* o, unsigned* drawn, int H,
              int S) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long all_barriers[kBarriers];
  __shared__ Tile places[2];
  __shared__ Sequences sequences;
  const unsigned tiles = round_up(shared_address(raw), 1024), barriers = shared_address(all_barriers);
  if (threadIdx.x == 0) {
    for (int i = 0; i < kBarriers; ++i) {
      const bool full =
          i < kQueriesEmpty || (i >= kKeysFull && i < kKeysEmpty) || (i >= kValuesFull && i < kValuesEmpty);
      mbarrier::init(barriers + 8 * i, full ? 1 : 4 * GROUPS);  // empty: an arrival from each warp
    }
    mbarrier::fence_init();
  }
  sequences.sort(offsets, H, S);

  if (threadIdx.x >= 128 * GROUPS) {  // the producer
    if (GROUPS == 2) {
      warpgroup::keep_registers<40>();
    } else {
      warpgroup::keep_registers<32>();
    }
    if (threadIdx.x == 128 * GROUPS) {
      produce(&q_map, &k_map, &v_map, sequences, places, drawn, tiles, barriers, H, S);
    }
  } else {
    if (GROUPS == 2) {
      warpgroup::take_registers<232>();
    } else {
      warpgroup::take_registers<160>();
    }
    consume(places, tiles, barriers, o, H);
  }
}
