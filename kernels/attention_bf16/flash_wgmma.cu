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

constexpr int D = 64;
constexpr int kTile = 128, kBytes = kTile * D * 2;           // keys of a step, and their bytes
constexpr int kRows = 64 * GROUPS, kQBytes = kRows * D * 2;  // queries of a block
// Barriers, by number.
constexpr int kQueries = 0, kKeysFull = 1, kKeysEmpty = kKeysFull + STAGES, kValuesFull = kKeysEmpty + STAGES,
              kValuesEmpty = kValuesFull + STAGES, kBarriers = kValuesEmpty + STAGES;

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void wait(unsigned barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void copy_box(unsigned to, const CUtensorMap* map, int d, int s, int h, int b,
                                         unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], "
      "[%6];" ::"r"(to),
      "l"(map), "r"(d), "r"(s), "r"(h), "r"(b), "r"(barrier)
      : "memory");
}
// Of an operand that is swizzled by 128 bytes.
__device__ __forceinline__ unsigned long long descriptor(unsigned address, int leading_bytes, int stride_bytes) {
  return (unsigned long long)((address & 0x3FFFF) >> 4) | (unsigned long long)(leading_bytes >> 4) << 16 |
         (unsigned long long)(stride_bytes >> 4) << 32 | 1ull << 62;
}
__device__ __forceinline__ void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void finish() {  // all but the latest N groups
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
// Keeps the compiler from moving uses of registers across what stands here.
template <int N>
__device__ __forceinline__ void settle(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
__device__ __forceinline__ void settle(unsigned (&p)[32]) {
#pragma unroll
  for (int i = 0; i < 32; ++i) asm volatile("" : "+r"(p[i])::"memory");
}

#define EIGHT(i)                                                                                              \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])
// d (64 x 128) = [d +] a (64 x 16) times b (128 x 16) transposed, both in shared memory.
__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
      "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, "
      "%35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, "
      "%57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 0;\n}"
      : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56)
      : "l"(a), "l"(b), "r"(add));
}
// d (64 x 64) += weights k (64 x 16, registers) times b (16 rows of shared memory).
__device__ __forceinline__ void multiply(float (&d)[32], const unsigned (&p)[32], int k, unsigned long long b) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
      "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, p, 1, 1, 1;\n}"
      : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24)
      : "r"(p[4 * k]), "r"(p[4 * k + 1]), "r"(p[4 * k + 2]), "r"(p[4 * k + 3]), "l"(b), "r"(1));
}

__device__ __forceinline__ void begin_scores(float (&scores)[64], unsigned long long q, unsigned long long k) {
  settle(scores);
  begin();
#pragma unroll
  for (int i = 0; i < D / 16; ++i) multiply(scores, q + i * 2, k + i * 2, i > 0);
  commit();
}
__device__ __forceinline__ void begin_sums(float (&out)[D / 2], unsigned (&p)[32], unsigned long long v) {
  settle(out);
  settle(p);
  begin();
#pragma unroll
  for (int i = 0; i < kTile / 16; ++i) multiply(out, p, i, v + i * (2048 >> 4));
  commit();
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
__device__ __forceinline__ unsigned pair(float x, float y) {
  const __nv_bfloat162 two = __floats2bfloat162_rn(x, y);
  return *(const unsigned*)&two;
}
__device__ __forceinline__ void pack(unsigned (&p)[32], const float (&scores)[64]) {
#pragma unroll
  for (int i = 0; i < 32; ++i) p[i] = pair(scores[2 * i], scores[2 * i + 1]);
}

// Four lanes hold pairs of columns of four blocks of eight columns; afterwards each holds one block.
__device__ __forceinline__ void transpose(unsigned (&w)[4], int lane) {
  const bool odd = lane % 2, high = lane / 2 % 2;
#pragma unroll
  for (int j = 0; j < 4; j += 2) {
    const unsigned got = __shfl_xor_sync(0xffffffffu, odd ? w[j] : w[j + 1], 1);
    w[j] = odd ? got : w[j];
    w[j + 1] = odd ? w[j + 1] : got;
  }
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const unsigned got = __shfl_xor_sync(0xffffffffu, high ? w[j] : w[j + 2], 2);
    w[j] = high ? got : w[j];
    w[j + 2] = high ? w[j + 2] : got;
  }
}

// Stage of a step, and the parity of its use of that stage.
struct Place {
  int stage = 0, parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// o: the head's output; first: the block's first query.
__device__ __forceinline__ void consume(unsigned tiles, unsigned barriers, __nv_bfloat16* o, int first, int S) {
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  const int steps = (S + kTile - 1) / kTile, held = S - (steps - 1) * kTile;  // keys of the last step
  const float scale = 0.125f * 1.4426950408889634f;
  const auto barrier = [&](int number) { return barriers + 8 * number; };
  const unsigned long long q = descriptor(tiles + group * 64 * 128, 16, 1024);
  const auto key = [&](int stage) { return descriptor(tiles + kQBytes + stage * kBytes, 16, 1024); };
  const auto value = [&](int stage) { return descriptor(tiles + kQBytes + (STAGES + stage) * kBytes, kBytes, 1024); };
  float out[D / 2] = {}, scores[64] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {}, keep[2];
  unsigned p[32];
  Place now, before;

  // Group g waits at named barrier 1 + g until the group before it has issued its products.
  const int mine = 1 + group, next = 1 + (group + 1) % GROUPS;
  if (IN_TURNS && group == GROUPS - 1 && steps > 1) asm volatile("bar.arrive 1, 256;" ::: "memory");
  wait(barrier(kQueries), 0);
  wait(barrier(kKeysFull), 0);
  begin_scores(scores, q, key(0));
  finish<0>();
  settle(scores);
  if (lane == 0) arrive(barrier(kKeysEmpty));
  if (steps == 1 && held < kTile) mask(scores, held, lane);
  weigh(scores, most, total, keep, scale);
  pack(p, scores);
  now.advance();
  for (int step = 1; step < steps; ++step) {
    wait(barrier(kKeysFull + now.stage), now.parity);
    if (IN_TURNS) asm volatile("bar.sync %0, 256;" ::"r"(mine) : "memory");
    begin_scores(scores, q, key(now.stage));
    wait(barrier(kValuesFull + before.stage), before.parity);
    begin_sums(out, p, value(before.stage));
    if (IN_TURNS && (group < GROUPS - 1 || step + 1 < steps)) {
      asm volatile("bar.arrive %0, 256;" ::"r"(next) : "memory");
    }
    finish<1>();
    settle(scores);
    if (lane == 0) arrive(barrier(kKeysEmpty + now.stage));
    if (step + 1 == steps && held < kTile) mask(scores, held, lane);
    weigh(scores, most, total, keep, scale);
    finish<0>();
    settle(out);
    if (lane == 0) arrive(barrier(kValuesEmpty + before.stage));
#pragma unroll
    for (int i = 0; i < D / 2; ++i) out[i] *= keep[i / 2 % 2];
    pack(p, scores);
    before = now;
    now.advance();
  }
  wait(barrier(kValuesFull + before.stage), before.parity);
  begin_sums(out, p, value(before.stage));
  finish<0>();
  settle(out);

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
        w[c] = pair(out[16 * j + 4 * c + 2 * r] * by, out[16 * j + 4 * c + 2 * r + 1] * by);
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
  const unsigned tiles = (shared_address(raw) + 1023) / 1024 * 1024, barriers = shared_address(all_barriers);
  const int blocks = (S + kRows - 1) / kRows, head = blockIdx.x / blocks, first = blockIdx.x % blocks * kRows;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kBarriers; ++i) {
      const bool empty = (i >= kKeysEmpty && i < kValuesFull) || i >= kValuesEmpty;  // an arrival from each warp
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barriers + 8 * i), "r"(empty ? 4 * GROUPS : 1)
                   : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  if (threadIdx.x >= 128 * GROUPS) {  // the producer
    if (GROUPS == 3) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
    } else {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    }
    if (threadIdx.x == 128 * GROUPS) {
      const int steps = (S + kTile - 1) / kTile, h = head % H, b = head / H;
      expect(barriers + 8 * kQueries, kQBytes);
      copy_box(tiles, &q_map, 0, first, h, b, barriers + 8 * kQueries);
      // The values of a step are fetched behind the keys of the next one. A first wait, for parity 1, returns at once.
      Place now, before;
      for (int step = 0; step <= steps; ++step) {
        if (step < steps) {
          const unsigned full = barriers + 8 * (kKeysFull + now.stage);
          wait(barriers + 8 * (kKeysEmpty + now.stage), now.parity ^ 1);
          expect(full, kBytes);
          copy_box(tiles + kQBytes + now.stage * kBytes, &k_map, 0, step * kTile, h, b, full);
        }
        if (step > 0) {
          const unsigned full = barriers + 8 * (kValuesFull + before.stage);
          wait(barriers + 8 * (kValuesEmpty + before.stage), before.parity ^ 1);
          expect(full, kBytes);
          copy_box(tiles + kQBytes + (STAGES + before.stage) * kBytes, &v_map, 0, (step - 1) * kTile, h, b, full);
        }
        before = now;
        now.advance();
      }
    }
  } else {
    if (GROUPS == 3) {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
    } else {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    }
    consume(tiles, barriers, o + (size_t)head * S * D, first, S);
  }
}
