/* kernelwright
{
  "problem": "attention_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent grid, TMA producer, GROUPS warpgroups of wgmma; the maximum is only renewed when weights grow",
  "tunables": {"GROUPS": [3, 2, 4], "KEYS": [128, 64], "STAGES": [4, 2], "IN_TURNS": [1, 0], "POLY": [8, 0, 4],
               "BLOCKS": [132]},
  "constraints": ["(GROUPS == 4) == (KEYS == 64)"],
  "tensor_maps": {
    "q_map": {"tensor": "q", "box": [64, "64 * GROUPS", 1, 1], "swizzle": 128},
    "k_map": {"tensor": "k", "box": [64, "KEYS", 1, 1], "swizzle": 128},
    "v_map": {"tensor": "v", "box": [64, "KEYS", 1, 1], "swizzle": 128}
  },
  "launches": [
    {"kernel": "attention", "grid": ["min(ceil_div(S, 64 * GROUPS) * B * H, BLOCKS)", 1, 1],
     "block": ["128 * GROUPS + 128", 1, 1], "shared_bytes": "16384 * GROUPS + 256 * KEYS * STAGES + 1024",
     "args": ["q_map", "k_map", "v_map", "o", "B * H", "H", "S"]}
  ]
}
*/
// o[i] = sum_j p[j] v[j], p = softmax_j(q[i] . k[j] / 8); q, k, v, o: [B * H, S, 64].
//
// FlashAttention-3 in plain CUDA (Shah et al., 2024), with a persistent grid. A tile is 64 * GROUPS queries of a head. A
// block walks over tiles. One thread of its last warpgroup streams queries, keys and values by TMA and runs ahead into
// the next tile, so that a tile begins without waiting. Each other warpgroup owns 64 queries: scores come from wgmma on
// shared memory, weights stay in registers and are the left operand of the second wgmma. A step starts its scores, then
// the sums of the step before, and computes exponentials while those sums run. With IN_TURNS the warpgroups issue
// products one after another. Tiles at the end of a head, where some warpgroups have no query, come last of all.
//
// A softmax is right with any base near the maximum. So only the first step of a tile looks for the maximum. Later ones
// take exponentials against that base at once; where a warp finds weights that add up to more than 64 in a thread, it
// computes these scores again, finds the new maximum, and rescales. Ordinary inputs hardly ever do. The other bound is
// the exponentials: 16 a cycle make them as long as the products. One in POLY (0: none) is a polynomial instead, of
// degree 5 and as exact as ex2.approx.
//
// Measured on one H200 on 2026-11-26, cold caches, median: 717.3 us at 4x24x4096 and 144.2 us at 16x16x1024, where one
// tile a block, with a maximum for each step, took 768.5 and 179.6 us.
#include <cuda.h>
#include <cuda_bf16.h>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int D = 64;
constexpr int kBytes = KEYS * D * 2;                         // keys of a step
constexpr int kRows = 64 * GROUPS, kQBytes = kRows * D * 2;  // queries of a tile
constexpr int kScores = KEYS / 2, kPairs = KEYS / 4;         // of a thread in a step
constexpr float kScale = 0.125f * 1.4426950408889634f;
// Barriers, by number.
constexpr int kQueriesFull = 0, kQueriesEmpty = 2, kKeysFull = 4, kKeysEmpty = kKeysFull + STAGES,
              kValuesFull = kKeysEmpty + STAGES, kValuesEmpty = kValuesFull + STAGES,
              kBarriers = kValuesEmpty + STAGES;

// Whole tiles first. The rest of each head comes last, latest heads first, since these are still in L2.
struct Tile {
  int head, first;
  __device__ __forceinline__ Tile(int number, int heads, int S) {
    const int whole = S / kRows;
    if (number < heads * whole) {
      head = number / whole;
      first = number % whole * kRows;
    } else {
      head = heads - 1 - (number - heads * whole);
      first = whole * kRows;
    }
  }
};

__device__ __forceinline__ void begin_scores(float (&scores)[kScores], unsigned long long q, unsigned long long k) {
  wgmma::settle(scores);
  wgmma::fence();
#pragma unroll
  for (int i = 0; i < D / 16; ++i) wgmma::multiply<wgmma::bf16>(scores, q + i * 2, k + i * 2, i > 0);
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
    const int low = swizzled(row, 2 * d) + at, high = swizzled(row, 2 * d + 1) + at;
    const unsigned a0 = load_word(q + low), a1 = load_word(q + low + 1024), a2 = load_word(q + high),
                   a3 = load_word(q + high + 1024);
#pragma unroll
    for (int j = 0; j < KEYS / 8; ++j) {
      const unsigned b0 = load_word(k + 1024 * j + low), b1 = load_word(k + 1024 * j + high);
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(scores[4 * j]), "+f"(scores[4 * j + 1]), "+f"(scores[4 * j + 2]), "+f"(scores[4 * j + 3])
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
  }
}
// The last step: only `held` of its keys exist.
__device__ __forceinline__ void mask(float (&scores)[kScores], int held, int lane) {
#pragma unroll
  for (int i = 0; i < kScores; ++i) {
    if (i / 4 * 8 + lane % 4 * 2 + i % 2 >= held) scores[i] = -INFINITY;
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

// to: the head's output; row: the thread's first row.
__device__ __forceinline__ void finish(const float (&out)[D / 2], const float (&total)[2], __nv_bfloat16* to, int row,
                                       int S, int lane) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float all = total[r];
    all += __shfl_xor_sync(0xffffffffu, all, 1);
    all += __shfl_xor_sync(0xffffffffu, all, 2);
    const float by = 1.0f / all;
    const int i = row + 8 * r;
#pragma unroll
    for (int j = 0; j < D / 32; ++j) {
      unsigned w[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        w[c] = pack_bf16(out[16 * j + 4 * c + 2 * r] * by, out[16 * j + 4 * c + 2 * r + 1] * by);
      }
      transpose(w, lane);
      if (i < S) *(uint4*)(to + (size_t)i * D + lane % 4 * 8 + 32 * j) = make_uint4(w[0], w[1], w[2], w[3]);
    }
  }
}

__device__ __forceinline__ void produce(const CUtensorMap* q_map, const CUtensorMap* k_map, const CUtensorMap* v_map,
                                        unsigned tiles, unsigned barriers, int heads, int H, int S) {
  const int steps = (S + KEYS - 1) / KEYS, count = (S + kRows - 1) / kRows * heads;
  Ring<2> queries;
  Ring<STAGES> keys, values;
  int value_head = 0, value_step = -1;
  // A first wait, for parity 1, returns at once.
  const auto load_values = [&] {
    const unsigned full = barriers + 8 * (kValuesFull + values.stage);
    mbarrier::wait(barriers + 8 * (kValuesEmpty + values.stage), values.phase ^ 1);
    mbarrier::expect(full, kBytes);
    tma::load(tiles + 2 * kQBytes + (STAGES + values.stage) * kBytes, v_map, 0, value_step * KEYS, value_head % H,
              value_head / H, full);
    values.advance();
  };
  for (int number = blockIdx.x; number < count; number += gridDim.x) {
    const Tile tile(number, heads, S);
    const int h = tile.head % H, b = tile.head / H;
    {
      const unsigned full = barriers + 8 * (kQueriesFull + queries.stage);
      mbarrier::wait(barriers + 8 * (kQueriesEmpty + queries.stage), queries.phase ^ 1);
      mbarrier::expect(full, kQBytes);
      tma::load(tiles + queries.stage * kQBytes, q_map, 0, tile.first, h, b, full);
      queries.advance();
    }
    // The values of a step are fetched behind the keys of the next one, be it in the next tile.
    for (int step = 0; step < steps; ++step) {
      const unsigned full = barriers + 8 * (kKeysFull + keys.stage);
      mbarrier::wait(barriers + 8 * (kKeysEmpty + keys.stage), keys.phase ^ 1);
      mbarrier::expect(full, kBytes);
      tma::load(tiles + 2 * kQBytes + keys.stage * kBytes, k_map, 0, step * KEYS, h, b, full);
      keys.advance();
      if (value_step >= 0) load_values();
      value_head = tile.head;
      value_step = step;
    }
  }
  load_values();
}

__device__ __forceinline__ void consume(unsigned tiles, unsigned barriers, __nv_bfloat16* o, int heads, int S) {
  // By a shuffle, so that the compiler knows that a warp has one value, and keeps descriptors in uniform registers.
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), group = warp / 4, lane = threadIdx.x % 32;
  const int steps = (S + KEYS - 1) / KEYS, held = S - (steps - 1) * KEYS;  // keys of the last step
  const int count = (S + kRows - 1) / kRows * heads;
  // Steps of this block before this one, and tiles. Both rings have a power of two of stages.
  unsigned now = 0, turn = 0;
  const auto wait = [&](int number, unsigned n) {
    mbarrier::wait(barriers + 8 * (number + n % STAGES), n / STAGES % 2);
  };
  const auto leave = [&](int number, unsigned n) {
    if (lane == 0) mbarrier::arrive(barriers + 8 * (number + n % STAGES));
  };
  // Group g waits at named barrier 1 + g until the group before it has issued its products. Every arrival is waited for.
  const int mine = 1 + group, next = 1 + (group + 1) % GROUPS;
  if (IN_TURNS && group == GROUPS - 1 && steps > 1) warpgroup::arrive<256>(1);

  for (int number = blockIdx.x; number < count; number += gridDim.x, ++turn) {
    const Tile tile(number, heads, S);
    // Nobody waits for the last group after its last products.
    const bool goes_on = group < GROUPS - 1 || number + (int)gridDim.x < count;
    mbarrier::wait(barriers + 8 * (kQueriesFull + turn % 2), turn / 2 % 2);
    const unsigned queries_empty = barriers + 8 * (kQueriesEmpty + turn % 2);
    if (tile.first + 64 * group >= S) {  // no query for this group: it only hands things on
      if (lane == 0) mbarrier::arrive(queries_empty);
#pragma unroll 1
      for (int step = 0; step < steps; ++step, ++now) {
        wait(kKeysFull, now);
        leave(kKeysEmpty, now);
        if (IN_TURNS && step > 0) {
          warpgroup::sync<256>(mine);
          if (goes_on || step + 1 < steps) warpgroup::arrive<256>(next);
        }
        wait(kValuesFull, now);
        leave(kValuesEmpty, now);
      }
      continue;
    }

    const unsigned q_at = tiles + turn % 2 * kQBytes + group * 64 * 128;
    const unsigned long long q = wgmma::k_major_tile(q_at);
    const auto key_at = [&](unsigned n) { return tiles + 2 * kQBytes + n % STAGES * kBytes; };
    const auto value = [&](unsigned n) {
      return wgmma::mn_major_tile(tiles + 2 * kQBytes + (STAGES + n % STAGES) * kBytes, kBytes);
    };
    float out[D / 2], scores[kScores];
    unsigned p[kPairs];
    Rows rows;
    rows.base[0] = rows.base[1] = -INFINITY;
    rows.total[0] = rows.total[1] = 0.0f;
#pragma unroll
    for (int i = 0; i < D / 2; ++i) out[i] = 0.0f;
#pragma unroll
    for (int i = 0; i < kScores; ++i) scores[i] = 0.0f;

    wait(kKeysFull, now);
    begin_scores(scores, q, wgmma::k_major_tile(key_at(now)));
    wgmma::wait<0>();
    wgmma::settle(scores);
    leave(kKeysEmpty, now);
    if (steps == 1 && held < KEYS) mask(scores, held, lane);
    rows.weigh_anew(scores);
    pack(p, scores);
    for (int left = steps - 1; left > 0; --left) {  // steps, this one included
      ++now;
      wait(kKeysFull, now);
      if (IN_TURNS) warpgroup::sync<256>(mine);
      begin_scores(scores, q, wgmma::k_major_tile(key_at(now)));
      wait(kValuesFull, now - 1);
      begin_sums(out, p, value(now - 1));
      if (IN_TURNS && (goes_on || left > 1)) warpgroup::arrive<256>(next);
      wgmma::wait<1>();
      wgmma::settle(scores);
      if (left == 1 && held < KEYS) mask(scores, held, lane);
      if (!rows.try_weigh(scores)) {
        wgmma::wait<0>();
        wgmma::settle(out);
        repeat_scores(scores, q_at + warp % 4 * 2048, key_at(now), lane);
        if (left == 1 && held < KEYS) mask(scores, held, lane);
        rows.weigh_anew(scores);
#pragma unroll
        for (int i = 0; i < D / 2; ++i) out[i] *= rows.keep[i / 2 % 2];
        __syncwarp();
      }
      leave(kKeysEmpty, now);
      wgmma::wait<0>();
      wgmma::settle(out);
      leave(kValuesEmpty, now - 1);
      pack(p, scores);
    }
    if (lane == 0) mbarrier::arrive(queries_empty);
    wait(kValuesFull, now);
    begin_sums(out, p, value(now));
    wgmma::wait<0>();
    wgmma::settle(out);
    leave(kValuesEmpty, now);
    ++now;
    const Tile same(number, heads, S);  // once more, which saves registers
    finish(out, rows.total, o + (size_t)same.head * S * D, same.first + warp * 16 + lane / 4, S, lane);
  }
}

extern "C" __global__ void __launch_bounds__(128 * GROUPS + 128, 1)
    attention(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
              const __grid_constant__ CUtensorMap v_map, __nv_bfloat16* o, int heads, int H, int S) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long all_barriers[kBarriers];
  const unsigned tiles = round_up(shared_address(raw), 1024), barriers = shared_address(all_barriers);
  if (threadIdx.x == 0) {
    for (int i = 0; i < kBarriers; ++i) {
      const bool full = i < kQueriesEmpty || (i >= kKeysFull && i < kKeysEmpty) || (i >= kValuesFull && i < kValuesEmpty);
      mbarrier::init(barriers + 8 * i, full ? 1 : 4 * GROUPS);  // empty: an arrival from each warp
    }
    mbarrier::fence_init();
  }
  __syncthreads();

  if (threadIdx.x >= 128 * GROUPS) {  // the producer
    if (GROUPS == 2) {
      warpgroup::keep_registers<24>();
    } else {
      warpgroup::keep_registers<32>();
    }
    if (threadIdx.x == 128 * GROUPS) produce(&q_map, &k_map, &v_map, tiles, barriers, heads, H, S);
  } else {
    if (GROUPS == 2) {
      warpgroup::take_registers<240>();
    } else if (GROUPS == 3) {
      warpgroup::take_registers<160>();
    } else {
      warpgroup::take_registers<112>();
    }
    consume(tiles, barriers, o, heads, S);
  }
}
