/* kernelwright
{
  "problem": "attention_f16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "TMA producer, two warpgroups of wgmma in turns, softmax of a step under the sums of the step before",
  "tunables": {"GROUP": [16, 8, 4, 32], "PINGPONG": [0, 1]},
  "tensor_maps": {
    "q_map": {"tensor": "q", "box": [64, 128, 1, 1], "swizzle": 128},
    "k_map": {"tensor": "k", "box": [64, 128, 1, 1], "swizzle": 128},
    "v_map": {"tensor": "v", "box": [64, 128, 1, 1], "swizzle": 128}
  },
  "launches": [
    {"kernel": "attention", "grid": ["ceil_div(S, 128) * B * H", 1, 1], "block": [384, 1, 1],
     "shared_bytes": "D * 1280 + 1024",
     "args": ["q_map", "k_map", "v_map", "o", "B * H", "H", "S", "D"]}
  ]
}
*/
// o[i] = sum_{j <= i} p[j] v[j], p = softmax_{j <= i}(q[i] . k[j] / sqrt(D)); q, k, v, o: [B * H, S, D]; D: 64 or 128.
//
// FlashAttention-3 in plain CUDA (Shah et al., 2024). A block owns 128 queries of a head. One thread of a third
// warpgroup streams tiles of 128 keys and values by TMA into two buffers each; rows beyond S read as zeros. The other
// two warpgroups own 64 queries each: scores come from wgmma on shared memory, weights stay in registers and are the
// left operand of the second wgmma. A step starts its scores, then the sums of the step before, and computes
// exponentials while those sums run. With PINGPONG the two warpgroups take turns in issuing products. Keys go upwards,
// so that key 0 makes every maximum finite and only the last step, the diagonal, needs the mask. Heads are taken GROUP
// at a time, longest rows first, so that keys and values stay in L2 and the tail is short.
//
// Measured on one H200 on 2026-11-25, cold caches, median: 924.5 us at 4x32x4096x128, 68 % of the bound, with GROUP=16
// PINGPONG=0.
#include <cuda.h>
#include <cuda_fp16.h>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int kTile = 128;            // queries of a block, keys of a step
constexpr int kBox = kTile * 64 * 2;  // bytes of 128 rows of 64 columns
// Barriers, by number; those of K and V have two stages.
constexpr int kQueries = 0, kKeysFull = 1, kKeysEmpty = 3, kValuesFull = 5, kValuesEmpty = 7, kBarriers = 9;

template <int D>
__device__ __forceinline__ void begin_scores(float (&scores)[64], unsigned long long q, unsigned long long k) {
  wgmma::settle(scores);
  wgmma::fence();
#pragma unroll
  for (int i = 0; i < D / 16; ++i) {
    const int at = i / 4 * (kBox >> 4) + i % 4 * 2;
    wgmma::multiply<wgmma::f16>(scores, q + at, k + at, i > 0);
  }
  wgmma::commit();
}
template <int D>
__device__ __forceinline__ void begin_sums(float (&out)[D / 2], unsigned (&p)[32], unsigned long long v) {
  wgmma::settle(out);
  wgmma::settle(p);
  wgmma::fence();
#pragma unroll
  for (int i = 0; i < kTile / 16; ++i) {
    wgmma::multiply<wgmma::f16, wgmma::mn_major>(out, p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3],
                                                 v + i * (2048 >> 4), 1);
  }
  wgmma::commit();
}

__device__ __forceinline__ float exponential(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// The last step: keys beyond the query. Key and query count from the same number here.
__device__ __forceinline__ void mask(float (&scores)[64], int row, int lane) {
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    if (i / 4 * 8 + lane % 4 * 2 + i % 2 > row + i / 2 % 2 * 8) scores[i] = -INFINITY;
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
  for (int i = 0; i < 32; ++i) p[i] = pack_f16(scores[2 * i], scores[2 * i + 1]);
}

// o: the head's output; first: the block's first query.
template <int D>
__device__ __forceinline__ void consume(unsigned tiles, unsigned barriers, __half* o, int first, int steps, int S) {
  constexpr int kBytes = D / 64 * kBox;
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  const float scale = (D == 64 ? 0.125f : 0.08838834764831845f) * 1.4426950408889634f;
  const auto barrier = [&](int number) { return barriers + 8 * number; };
  const unsigned long long q = wgmma::k_major_tile(tiles + group * 64 * 128);
  const auto key = [&](int step) { return wgmma::k_major_tile(tiles + (1 + step % 2) * kBytes); };
  const auto value = [&](int step) { return wgmma::mn_major_tile(tiles + (3 + step % 2) * kBytes, kBox); };
  float out[D / 2] = {}, scores[64] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {}, keep[2];
  unsigned p[32];

  if (PINGPONG && group == 1 && steps > 1) warpgroup::arrive<256>(1);
  mbarrier::wait(barrier(kQueries), 0);
  mbarrier::wait(barrier(kKeysFull), 0);
  begin_scores<D>(scores, q, key(0));
  wgmma::wait<0>();
  wgmma::settle(scores);
  if (lane == 0) mbarrier::arrive(barrier(kKeysEmpty));
  if (steps == 1) mask(scores, row, lane);
  weigh(scores, most, total, keep, scale);
  pack(p, scores);
  for (int step = 1; step < steps; ++step) {
    const int before = step - 1;
    mbarrier::wait(barrier(kKeysFull + step % 2), step / 2 % 2);
    if (PINGPONG) warpgroup::sync<256>(1 + group);
    begin_scores<D>(scores, q, key(step));
    mbarrier::wait(barrier(kValuesFull + before % 2), before / 2 % 2);
    begin_sums<D>(out, p, value(before));
    if (PINGPONG && (group == 0 || step + 1 < steps)) warpgroup::arrive<256>(2 - group);
    wgmma::wait<1>();
    wgmma::settle(scores);
    if (lane == 0) mbarrier::arrive(barrier(kKeysEmpty + step % 2));
    if (step + 1 == steps) mask(scores, row, lane);
    weigh(scores, most, total, keep, scale);
    wgmma::wait<0>();
    wgmma::settle(out);
    if (lane == 0) mbarrier::arrive(barrier(kValuesEmpty + before % 2));
#pragma unroll
    for (int i = 0; i < D / 2; ++i) out[i] *= keep[i / 2 % 2];
    pack(p, scores);
  }
  const int last = steps - 1;
  mbarrier::wait(barrier(kValuesFull + last % 2), last / 2 % 2);
  begin_sums<D>(out, p, value(last));
  wgmma::wait<0>();
  wgmma::settle(out);

#pragma unroll
  for (int r = 0; r < 2; ++r) {
    total[r] += __shfl_xor_sync(0xffffffffu, total[r], 1);
    total[r] += __shfl_xor_sync(0xffffffffu, total[r], 2);
    const float by = 1.0f / total[r];
    const int i = first + row + 8 * r;
    __half* to = o + (size_t)i * D + lane % 4 * 8;
#pragma unroll
    for (int j = 0; j < D / 32; ++j) {
      unsigned w[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        w[c] = pack_f16(out[16 * j + 4 * c + 2 * r] * by, out[16 * j + 4 * c + 2 * r + 1] * by);
      }
      transpose(w, lane);
      if (i < S) *(uint4*)(to + 32 * j) = make_uint4(w[0], w[1], w[2], w[3]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    attention(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
              const __grid_constant__ CUtensorMap v_map, __half* o, int heads, int H, int S, int D) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long all_barriers[kBarriers];
  const unsigned tiles = round_up(shared_address(raw), 1024), barriers = shared_address(all_barriers);
  // GROUP heads at a time; of these, the longest rows first.
  const int blocks = (S + kTile - 1) / kTile, part = blockIdx.x / (GROUP * blocks),
            within = blockIdx.x % (GROUP * blocks);
  const int members = heads - part * GROUP < GROUP ? heads - part * GROUP : GROUP;
  const int head = part * GROUP + within % members, block = blocks - 1 - within / members;
  const int first = block * kTile, steps = block + 1;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kBarriers; ++i) {
      const bool empty = i == kKeysEmpty || i == kKeysEmpty + 1 || i >= kValuesEmpty;
      mbarrier::init(barriers + 8 * i, empty ? 8 : 1);
    }
    mbarrier::fence_init();
  }
  __syncthreads();

  if (threadIdx.x >= 256) {  // the producer
    warpgroup::keep_registers<24>();
    if (threadIdx.x == 256) {
      const int boxes = D / 64, bytes = boxes * kBox, h = head % H, b = head / H;
      mbarrier::expect(barriers + 8 * kQueries, bytes);
      for (int c = 0; c < boxes; ++c) tma::load(tiles + c * kBox, &q_map, 64 * c, first, h, b, barriers + 8 * kQueries);
      for (int step = 0; step <= steps; ++step) {
        if (step < steps) {
          const int s = step % 2;
          const unsigned full = barriers + 8 * (kKeysFull + s);
          if (step >= 2) mbarrier::wait(barriers + 8 * (kKeysEmpty + s), (step / 2 - 1) % 2);
          mbarrier::expect(full, bytes);
          for (int c = 0; c < boxes; ++c) {
            tma::load(tiles + (1 + s) * bytes + c * kBox, &k_map, 64 * c, step * kTile, h, b, full);
          }
        }
        if (step > 0) {
          const int before = step - 1, s = before % 2;
          const unsigned full = barriers + 8 * (kValuesFull + s);
          if (before >= 2) mbarrier::wait(barriers + 8 * (kValuesEmpty + s), (before / 2 - 1) % 2);
          mbarrier::expect(full, bytes);
          for (int c = 0; c < boxes; ++c) {
            tma::load(tiles + (3 + s) * bytes + c * kBox, &v_map, 64 * c, before * kTile, h, b, full);
          }
        }
      }
    }
  } else {
    warpgroup::take_registers<240>();
    __half* to = o + (size_t)head * S * D;
    if (D == 64) {
      consume<64>(tiles, barriers, to, first, steps, S);
    } else {
      consume<128>(tiles, barriers, to, first, steps, S);
    }
  }
}
