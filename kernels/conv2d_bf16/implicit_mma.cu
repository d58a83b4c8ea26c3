/* kernelwright
{
  "problem": "conv2d_bf16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "implicit GEMM by mma.sync: BM pixels x BN filters, depth 9 * C, STAGES buffers filled by cp.async",
  "tunables": {"BM": [128, 64, 256], "BN": [128, 64], "BK": [32, 64], "WM": [64, 32], "WN": [64, 32],
               "STAGES": [3, 2, 4]},
  "constraints": ["(BM / WM) * (BN / WN) >= 2", "(BM / WM) * (BN / WN) <= 8",
                  "STAGES * (BM + BN) * (2 * BK + 16) <= 101376"],
  "launches": [
    {"kernel": "conv2d", "grid": ["ceil_div(B * H * W, BM) * ceil_div(K, BN)", 1, 1],
     "block": ["32 * (BM / WM) * (BN / WN)", 1, 1], "shared_bytes": "STAGES * (BM + BN) * (2 * BK + 16)",
     "args": ["x", "w", "y", "B * H * W", "H", "W", "C", "K"]}
  ]
}
*/
// y[b, i, j, f] = sum_{r, s, c} x[b, i + r - 1, j + s - 1, c] w[f, r, s, c]; x: [B, H, W, C], w: [K, 3, 3, C],
// y: [B, H, W, K].
//
// Implicit GEMM: rows are pixels of y, columns are filters, and the depth is 9 * C. A filter is one row of 9 * C in
// memory. The matrix of pixels is never stored: each copy computes where in x eight of its elements lie. A thread
// copies for the same pixels in every step and keeps nine bits for each of them: which taps lie inside the image. For
// the others, cp.async writes zeros.
//
// A block makes BM x BN of y in steps of BK; each of its warps makes WM x WN of it by m16n8k16. cp.async fetches
// STAGES - 1 steps ahead; pixels pass through L1, since other taps read them again. Rows are padded by 16 bytes, so
// that ldmatrix finds eight rows in different banks. Consecutive blocks take all filters of a tile of pixels before the
// next tile. If C is no multiple of 8, copies go element by element; if K is no multiple of 8, stores do.
//
// Compiled for sm_80 and sm_100 and executed on the cpu device; not run on such a GPU.
#include <cuda_bf16.h>
#include <kw/pack.cuh>

using namespace kw;

constexpr int kWarpsAcross = BN / WN, kThreads = 32 * (BM / WM) * kWarpsAcross;
constexpr int kPitch = 2 * BK + 16, kStage = (BM + BN) * kPitch;  // bytes; pixels come before filters
constexpr int kChunks = BK / 8, kApart = kThreads / kChunks;      // a thread copies one chunk of each kApart-th row
static_assert(BM % kApart == 0 && BN % kApart == 0, "copies");

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(unsigned to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}
__device__ __forceinline__ void copy16_by_l1(unsigned to, const void* from, bool inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}
__device__ __forceinline__ void load_matrices(unsigned (&words)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}
// d (16 x 8) += a (16 x 16) times b (16 x 8).
__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Bit 3 * r + s: tap (r, s) of pixel (i, j) lies inside the image.
__device__ __forceinline__ unsigned taps_inside(int i, int j, int H, int W) {
  const unsigned across = (j > 0 ? 1u : 0u) | 2u | (j + 1 < W ? 4u : 0u);
  return (i > 0 ? across : 0u) | across << 3 | (i + 1 < H ? across << 6 : 0u);
}

// Eight elements as `load` gives them, one by one.
template <typename Load>
__device__ __forceinline__ void store_eight(unsigned char* to, const Load& load) {
  unsigned words[4];
#pragma unroll
  for (int e = 0; e < 4; ++e) words[e] = load(2 * e) | (unsigned)load(2 * e + 1) << 16;
  *(uint4*)to = make_uint4(words[0], words[1], words[2], words[3]);
}

extern "C" __global__ void __launch_bounds__(kThreads, kThreads <= 128 ? 2 : 1)
    conv2d(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y,
           int pixels, int H, int W, int C, int K) {
  extern __shared__ __align__(16) unsigned char raw[];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, across = (K + BN - 1) / BN;
  const int m0 = blockIdx.x / across * BM, n0 = blockIdx.x % across * BN;
  const int depth = 9 * C, steps = (depth + BK - 1) / BK;
  const unsigned stages = shared_address(raw);

  const int own_row = t / kChunks, own_k = t % kChunks * 8;  // of the first copy, in a stage
  unsigned inside[BM / kApart];                              // taps
#pragma unroll
  for (int a = 0; a < BM / kApart; ++a) {
    const int m = m0 + own_row + a * kApart;
    inside[a] = m < pixels ? taps_inside(m / W % H, m % W, H, W) : 0u;
  }
  const auto fetch = [&](int step) {
    if (step < steps) {
      const int k = step * BK + own_k, at = step % STAGES * kStage + own_row * kPitch + 2 * own_k;
      if (C % 8 == 0) {  // all eight elements are of one tap
        const int tap = k / C;
        const long long shift = ((tap / 3 - 1) * (long long)W + tap % 3 - 1) * C + k % C;
#pragma unroll
        for (int a = 0; a < BM / kApart; ++a) {
          const bool in = inside[a] >> tap & 1;
          const long long from = (long long)(m0 + own_row + a * kApart) * C + shift;
          copy16_by_l1(stages + at + a * kApart * kPitch, x + (in ? from : 0), in);
        }
#pragma unroll
        for (int a = 0; a < BN / kApart; ++a) {
          const int f = n0 + own_row + a * kApart;
          const bool in = f < K && k < depth;
          copy16(stages + at + (BM + a * kApart) * kPitch, w + (in ? (size_t)f * depth + k : 0), in);
        }
      } else {
#pragma unroll 1
        for (int a = 0; a < BM / kApart; ++a) {
          const int m = m0 + own_row + a * kApart;
          const unsigned taps = m < pixels ? taps_inside(m / W % H, m % W, H, W) : 0u;
          store_eight(raw + at + a * kApart * kPitch, [&](int e) -> unsigned short {
            const int tap = (k + e) / C;
            if (tap >= 9 || !(taps >> tap & 1)) return 0;
            const long long pixel = m + (tap / 3 - 1) * (long long)W + tap % 3 - 1;
            return *(const unsigned short*)(x + pixel * C + (k + e) % C);
          });
        }
#pragma unroll 1
        for (int a = 0; a < BN / kApart; ++a) {
          const int f = n0 + own_row + a * kApart;
          store_eight(raw + at + (BM + a * kApart) * kPitch, [&](int e) -> unsigned short {
            return f < K && k + e < depth ? *(const unsigned short*)(w + (size_t)f * depth + k + e) : 0;
          });
        }
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll
  for (int step = 0; step < STAGES - 1; ++step) fetch(step);

  const int row = warp / kWarpsAcross * WM, column = warp % kWarpsAcross * WN;  // of the warp, in the block's tile
  float sums[WM / 16][WN / 8][4] = {};
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    fetch(step + STAGES - 1);
    const unsigned stage = stages + step % STAGES * kStage;
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      unsigned left[WM / 16][4], right[WN / 16][4];
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {  // words 0 and 1: rows 0 and 8 on; words 2 and 3: 8 further along k
        load_matrices(left[i], stage + (row + 16 * i + lane % 16) * kPitch + 2 * k + lane / 16 * 16);
      }
#pragma unroll
      for (int j = 0; j < WN / 16; ++j) {  // words 0 and 1 are of the first eight filters, 2 and 3 of the others
        load_matrices(right[j],
                      stage + (BM + column + 16 * j + lane % 8 + lane / 16 * 8) * kPitch + 2 * k + lane / 8 % 2 * 16);
      }
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
        for (int j = 0; j < WN / 8; ++j) {
          multiply(sums[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
        }
      }
    }
  }

#pragma unroll
  for (int i = 0; i < WM / 8; ++i) {
    const int m = m0 + row + 8 * i + lane / 4;
    __nv_bfloat16* to = y + (size_t)m * K;
#pragma unroll
    for (int j = 0; j < WN / 8; j += 4) {
      unsigned words[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float* d = &sums[i / 2][j + e][i % 2 * 2];
        words[e] = pack_bf16(d[0], d[1]);
      }
      transpose(words, lane);
      const int f = n0 + column + 8 * j + lane % 4 * 8;
      if (K % 8 == 0) {
        if (m < pixels && f < K) *(uint4*)(to + f) = make_uint4(words[0], words[1], words[2], words[3]);
      } else if (m < pixels) {
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          if (f + e < K) *(unsigned short*)(to + f + e) = (unsigned short)(words[e / 2] >> (e % 2 * 16));
        }
      }
    }
  }
}
