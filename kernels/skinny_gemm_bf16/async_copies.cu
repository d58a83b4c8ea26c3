/* kernelwright
{
  "problem": "skinny_gemm_bf16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "a cp.async ring of ROWS rows of w and up to 32 tokens; mma with w on the left, warps split the depth",
  "tunables": {"ROWS": [32, 64, 16], "KIB": [96, 64, 160]},
  "constraints": ["KIB * ROWS >= 32 * (ROWS + 32)"],
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, ROWS)", "ceil_div(M, 32)", 1], "block": [256, 1, 1],
     "shared_bytes": "KIB * 1024", "args": ["x", "w", "y", "M", "N", "K"]}
  ]
}
*/
// y[m, n] = sum_k x[m, k] * w[n, k]; x: [M, K], w: [N, K], y: [M, N], all row-major.
//
// Reading w bounds it. A block makes ROWS columns of y for up to 32 tokens. It walks along k in steps of 8192 / ROWS
// columns; cp.async copies fetch these of w and x as many steps ahead as KIB of shared memory hold; with 96, two
// blocks fit a multiprocessor of Hopper. In each step, a warp multiplies 16 rows of w (the left operand of mma.sync) by
// all tokens (the right one), over 64 columns. A lane reads 16 bytes of a row at a time, which permutes k in both
// operands alike; odd rows keep the halves of 128 bytes swapped, so that eight lanes use all banks. Sums of the warps
// that share rows meet in shared memory. More than 32 tokens take a second block, which finds w in L2.
//
// Rows whose length is no multiple of 8 take fp32 arithmetic. H200, 2026-11-28, judged once: 47.5 us at
// 16 x 8192 x 8192, 70.5 us at 24 x 5120 x 13824.
#include <cuda_bf16.h>
#include <kw/plain_gemm.cuh>
#include <kw/shared.cuh>

constexpr int kThreads = 256, kTiles = ROWS / 16, kParts = 8 / kTiles;  // parts of a step's columns
constexpr int kDepth = 64 * kParts, kPacks = kDepth / 8;                // columns of a step, and 16 bytes of them
constexpr int kPitch = ROWS + 4;  // of sums, in floats: lanes of a warp store them without bank conflicts

__device__ __forceinline__ void copy(unsigned to, const void* from, int bytes) {  // zeros if bytes is 0
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
__device__ __forceinline__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

__device__ __forceinline__ void multiply(float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                         unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Blocks of eight tokens.
template <int eights>
__device__ __forceinline__ void multiply_rows(unsigned char* memory, const __nv_bfloat16* __restrict__ x,
                                              const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y,
                                              int m0, int tokens, int N, int K) {
  constexpr int kLines = ROWS + 8 * eights, kBytes = kLines * 2 * kDepth, kStages = KIB * 1024 / kBytes;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int tile = warp % kTiles, part = warp / kTiles;
  const int n0 = blockIdx.x * ROWS, steps = (K + kDepth - 1) / kDepth;
  const unsigned start = kw::shared_address(memory);

  const auto fetch = [&](int step) {
    if (step < steps) {
      const unsigned to = start + step % kStages * kBytes;
#pragma unroll
      for (int i = threadIdx.x; i < kLines * kPacks; i += kThreads) {
        const int line = i / kPacks, pack = i % kPacks, k = step * kDepth + 8 * pack;
        const __nv_bfloat16* row = line < ROWS ? w + (size_t)min(n0 + line, N - 1) * K  // surplus rows repeat the last
                                               : x + (size_t)(m0 + min(line - ROWS, tokens - 1)) * K;
        copy(to + line * 2 * kDepth + ((pack ^ (line % 2 * 4)) << 4), row + (k < K ? k : 0), k < K ? 16 : 0);
      }
    }
    commit();
  };
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) fetch(s);

  // This lane's 16 bytes of a row in the first half of 128 bytes; those of the second are 64 bytes away.
  const int first = part * 128 + ((t + g % 2 * 4) << 4), second = first ^ 64;
  float sums[eights][4] = {};
  for (int step = 0; step < steps; ++step) {
    wait<kStages - 2>();
    __syncthreads();  // the step is there, and all warps are done with the one before
    fetch(step + kStages - 1);
    const unsigned char* from = memory + step % kStages * kBytes;
    const unsigned char* upper = from + (16 * tile + g) * 2 * kDepth;
    const unsigned char* lower = upper + 8 * 2 * kDepth;
    const unsigned char* right = from + (ROWS + g) * 2 * kDepth;
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const int at = c == 0 ? first : second;
      const uint4 u = *(const uint4*)(upper + at), l = *(const uint4*)(lower + at);
      uint4 r[eights];
#pragma unroll
      for (int e = 0; e < eights; ++e) r[e] = *(const uint4*)(right + e * 8 * 2 * kDepth + at);
#pragma unroll
      for (int e = 0; e < eights; ++e) multiply(sums[e], u.x, l.x, u.y, l.y, r[e].x, r[e].y);
#pragma unroll
      for (int e = 0; e < eights; ++e) multiply(sums[e], u.z, l.z, u.w, l.w, r[e].z, r[e].w);
    }
  }

  wait<0>();
  __syncthreads();                  // the ring is empty
  float* sums_of = (float*)memory;  // [kParts, 8 * eights, kPitch]
  constexpr int kSums = 8 * eights * kPitch;
#pragma unroll
  for (int e = 0; e < eights; ++e) {
    float* to = sums_of + part * kSums + (8 * e + 2 * t) * kPitch + 16 * tile + g;
    to[0] = sums[e][0];
    to[kPitch] = sums[e][1];
    to[8] = sums[e][2];
    to[kPitch + 8] = sums[e][3];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < tokens * ROWS; i += kThreads) {
    const int m = i / ROWS, n = i % ROWS;
    if (n0 + n >= N) continue;
    float sum = 0.0f;
#pragma unroll
    for (int p = 0; p < kParts; ++p) sum += sums_of[p * kSums + m * kPitch + n];
    y[(size_t)(m0 + m) * N + n0 + n] = __float2bfloat16(sum);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y, int M,
         int N, int K) {
  extern __shared__ __align__(128) unsigned char memory[];
  const int m0 = blockIdx.y * 32, tokens = min(32, M - m0);
  if (K % 8 != 0) {
    const int n0 = blockIdx.x * ROWS;
    kw::plain_tile<kThreads, true>((float*)memory, x, w, m0, m0 + tokens, n0, min(N, n0 + ROWS), K,
                                   [&](int m, int n, float sum) { y[(size_t)m * N + n] = __float2bfloat16(sum); });
  } else if (tokens <= 8) {
    multiply_rows<1>(memory, x, w, y, m0, tokens, N, K);
  } else if (tokens <= 16) {
    multiply_rows<2>(memory, x, w, y, m0, tokens, N, K);
  } else if (tokens <= 24) {
    multiply_rows<3>(memory, x, w, y, m0, tokens, N, K);
  } else {
    multiply_rows<4>(memory, x, w, y, m0, tokens, N, K);
  }
}
