/* kernelwright
{
  "problem": "attention_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "TMA producer, GROUPS warpgroups of wgmma in turns, softmax under the sums of the step before",
  "tunables": {"GROUPS": [3, 2], "STAGES": [2, 3, 4], "IN_TURNS": [1, 0]},
  "tensor_maps": {
    "q_map": {"tensor": "q", "box": [64, "64 * GROUPS", 1, 1], "swizzle": 128},
    "k_map": {"tensor": "k", "box": [64, 128, 1, 1], "swizzle": 128},
    "v_map": {"tensor": "v", "box": [64, 128, 1, 1], "swizzle": 128}
  },
  "launches": [
    {"kernel": "attention", "grid": ["ceil_div(S, 64 * GROUPS) * B * H", 1, 1], "block": ["128 * GROUPS + 128", 1, 1],
     "shared_bytes": "8192 * GROUPS + 32768 * STAGES + 1024", "args": ["q_map", "k_map", "v_map", "o", "H", "S"]}
  ]
}
*/
// o[i] = sum_j p[j] v[j], p = softmax_j(q[i] . k[j] / 8); q, k, v, o: [B * H, S, 64].
//
// FlashAttention-3 in plain CUDA (Shah et al., 2024). A block owns 64 * GROUPS queries of a head. One thread of the
// last warpgroup streams tiles of 128 keys and values by TMA through STAGES buffers each; rows beyond S read as zeros.
// Each other warpgroup owns 64 queries: scores come from wgmma on shared memory, weights stay in registers and are the
// left operand of the second wgmma. A step starts its scores, then the sums of the step before, and computes
// exponentials while those sums run. With IN_TURNS the warpgroups issue products one after another, so that the
// exponentials of one overlap with the products of the others. Keys go upwards: key 0 makes every maximum finite, and
// only the last step masks keys beyond S.
//
// Measured on one H200 on 2026-11-25, cold caches, median: 766.4 us at 4x24x4096, 59 % of the bound, with GROUPS=3
// IN_TURNS=1 STAGES=2.
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
constexpr int kTile = 128, kBytes = kTile * D * 2;           // keys of a step, and their bytes
constexpr int kRows = 64 * GROUPS, kQBytes = kRows * D * 2;  // queries of a block
// Barriers, by number.
constexpr int kQueries = 0, kKeysFull = 1, kKeysEmpty = kKeysFull + STAGES, kValuesFull = kKeysEmpty + STAGES,
              kValuesEmpty = kValuesFull + STAGES, kBarriers = kValuesEmpty + STAGES;

__device__ __forceinline__ void begin_scores(float (&scores)[64], unsigned long long q, unsigned long long k) {
  wgmma::settle(scores);
  wgmma::fence();
#pragma unroll
  for (int i = 0; i < D / 16; ++i) wgmma::multiply<wgmma::bf16>(scores, q + i * 2, k + i * 2, i > 0);
  wgmma::commit();
}
__device__ __forceinline__ void begin_sums(float (&out)[D / 2], unsigned (&p)[32], unsigned long long v) {
  wgmma::settle(out);
  wgmma::settle(p);
  wgmma::fence();
#pragma unroll
  for (int i = 0; i < kTile / 16; ++i) {
    wgmma::multiply<wgmma::bf16, wgmma::mn_major>(out, p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3],
                                                  v + i * (2048 >> 4), 1);
  }
  wgmma::commit();
}

__device__ __forceinline__ float exponential(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// The last step: only `held` of its keys exist.
__device__ __forceinline__ void mask(float (&scores)[64], int held, int lane) {
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    if (i / 4 * 8 + lane % 4 * 2 + i % 2 >= held) scores[i] = -INFINITY;
  }
}
// Scores become weights; keep is by what older sums shrink.
__device__ __forceinline__ void weigh(float (&scores)[64], float (&most)[2], float (&total)[2], float (&keep)[2],
                                      float scale) {
  float base[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float top = most[r];
#pragma unroll
    for (int i = 0; i < 32; ++i) top = fmaxf(top, scores[i / 2 * 4 + 2 * r + i % 2]);
    top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
    top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
    keep[r] = exponential((most[r] - top) * scale);
    most[r] = top;
    base[r] = top * scale;
  }
  // The product with scale may only be rounded before the difference while it is small.
  if (__any_sync(0xffffffffu, fmaxf(fabsf(base[0]), fabsf(base[1])) > 1024.0f)) {
#pragma unroll
    for (int i = 0; i < 64; ++i) scores[i] -= most[i / 2 % 2];
    base[0] = base[1] = 0.0f;
  }
  float sum[2] = {};
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    scores[i] = exponential(fmaf(scores[i], scale, -base[i / 2 % 2]));
    sum[i / 2 % 2] += scores[i];
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) total[r] = total[r] * keep[r] + sum[r];
}
__device__ __forceinline__ void pack(unsigned (&p)[32], const float (&scores)[64]) {
#pragma unroll
  for (int i = 0; i < 32; ++i) p[i] = pack_bf16(scores[2 * i], scores[2 * i + 1]);
}

// o: the head's output; first: the block's first query.
__device__ __forceinline__ void consume(unsigned tiles, unsigned barriers, __nv_bfloat16* o, int first, int S) {
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  const int steps = (S + kTile - 1) / kTile, held = S - (steps - 1) * kTile;  // keys of the last step
  const float scale = 0.125f * 1.4426950408889634f;
  const auto barrier = [&](int number) { return barriers + 8 * number; };
  const unsigned long long q = wgmma::k_major_tile(tiles + group * 64 * 128);
  const auto key = [&](int stage) { return wgmma::k_major_tile(tiles + kQBytes + stage * kBytes); };
  const auto value = [&](int stage) {
    return wgmma::mn_major_tile(tiles + kQBytes + (STAGES + stage) * kBytes, kBytes);
  };
  float out[D / 2] = {}, scores[64] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {}, keep[2];
  unsigned p[32];
  Ring<STAGES> now, before;

  // Group g waits at named barrier 1 + g until the group before it has issued its products.
  const int mine = 1 + group, next = 1 + (group + 1) % GROUPS;
  if (IN_TURNS && group == GROUPS - 1 && steps > 1) warpgroup::arrive<256>(1);
  mbarrier::wait(barrier(kQueries), 0);
  mbarrier::wait(barrier(kKeysFull), 0);
  begin_scores(scores, q, key(0));
  wgmma::wait<0>();
  wgmma::settle(scores);
  if (lane == 0) mbarrier::arrive(barrier(kKeysEmpty));
  if (steps == 1 && held < kTile) mask(scores, held, lane);
  weigh(scores, most, total, keep, scale);
  pack(p, scores);
  now.advance();
  for (int step = 1; step < steps; ++step) {
    mbarrier::wait(barrier(kKeysFull + now.stage), now.phase);
    if (IN_TURNS) warpgroup::sync<256>(mine);
    begin_scores(scores, q, key(now.stage));
    mbarrier::wait(barrier(kValuesFull + before.stage), before.phase);
    begin_sums(out, p, value(before.stage));
    if (IN_TURNS && (group < GROUPS - 1 || step + 1 < steps)) {
      warpgroup::arrive<256>(next);
    }
    wgmma::wait<1>();
    wgmma::settle(scores);
    if (lane == 0) mbarrier::arrive(barrier(kKeysEmpty + now.stage));
    if (step + 1 == steps && held < kTile) mask(scores, held, lane);
    weigh(scores, most, total, keep, scale);
    wgmma::wait<0>();
    wgmma::settle(out);
    if (lane == 0) mbarrier::arrive(barrier(kValuesEmpty + before.stage));
#pragma unroll
    for (int i = 0; i < D / 2; ++i) out[i] *= keep[i / 2 % 2];
    pack(p, scores);
    before = now;
    now.advance();
  }
  mbarrier::wait(barrier(kValuesFull + before.stage), before.phase);
  begin_sums(out, p, value(before.stage));
  wgmma::wait<0>();
  wgmma::settle(out);

#pragma unroll
  for (int r = 0; r < 2; ++r) {
    total[r] += __shfl_xor_sync(0xffffffffu, total[r], 1);
    total[r] += __shfl_xor_sync(0xffffffffu, total[r], 2);
    const float by = 1.0f / total[r];
    const int i = first + row + 8 * r;
    __nv_bfloat16* to = o + (size_t)i * D + lane % 4 * 8;
#pragma unroll
    for (int j = 0; j < D / 32; ++j) {
      unsigned w[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        w[c] = pack_bf16(out[16 * j + 4 * c + 2 * r] * by, out[16 * j + 4 * c + 2 * r + 1] * by);
      }
      transpose(w, lane);
      if (i < S) *(uint4*)(to + 32 * j) = make_uint4(w[0], w[1], w[2], w[3]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(128 * GROUPS + 128, 1)
    attention(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
              const __grid_constant__ CUtensorMap v_map, __nv_bfloat16* o, int H, int S) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long all_barriers[kBarriers];
  const unsigned tiles = round_up(shared_address(raw), 1024), barriers = shared_address(all_barriers);
  const int blocks = (S + kRows - 1) / kRows, head = blockIdx.x / blocks, first = blockIdx.x % blocks * kRows;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kBarriers; ++i) {
      const bool empty = (i >= kKeysEmpty && i < kValuesFull) || i >= kValuesEmpty;  // an arrival from each warp
      mbarrier::init(barriers + 8 * i, empty ? 4 * GROUPS : 1);
    }
    mbarrier::fence_init();
  }
  __syncthreads();

  if (threadIdx.x >= 128 * GROUPS) {  // the producer
    if (GROUPS == 3) {
      warpgroup::keep_registers<32>();
    } else {
      warpgroup::keep_registers<24>();
    }
    if (threadIdx.x == 128 * GROUPS) {
      const int steps = (S + kTile - 1) / kTile, h = head % H, b = head / H;
      mbarrier::expect(barriers + 8 * kQueries, kQBytes);
      tma::load(tiles, &q_map, 0, first, h, b, barriers + 8 * kQueries);
      // The values of a step are fetched behind the keys of the next one. A first wait, for parity 1, returns at once.
      Ring<STAGES> now, before;
      for (int step = 0; step <= steps; ++step) {
        if (step < steps) {
          const unsigned full = barriers + 8 * (kKeysFull + now.stage);
          mbarrier::wait(barriers + 8 * (kKeysEmpty + now.stage), now.phase ^ 1);
          mbarrier::expect(full, kBytes);
          tma::load(tiles + kQBytes + now.stage * kBytes, &k_map, 0, step * kTile, h, b, full);
        }
        if (step > 0) {
          const unsigned full = barriers + 8 * (kValuesFull + before.stage);
          mbarrier::wait(barriers + 8 * (kValuesEmpty + before.stage), before.phase ^ 1);
          mbarrier::expect(full, kBytes);
          tma::load(tiles + kQBytes + (STAGES + before.stage) * kBytes, &v_map, 0, (step - 1) * kTile, h, b, full);
        }
        before = now;
        now.advance();
      }
    }
  } else {
    if (GROUPS == 3) {
      warpgroup::take_registers<160>();
    } else {
      warpgroup::take_registers<240>();
    }
    consume(tiles, barriers, o + (size_t)head * S * D, first, S);
  }
}
