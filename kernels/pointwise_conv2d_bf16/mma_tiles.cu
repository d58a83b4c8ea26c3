/* kernelwright
{
  "problem": "pointwise_conv2d_bf16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "mma.sync: BM filters x BN pixels, STAGES buffers filled by cp.async of 16, 8 or 4 bytes",
  "tunables": {"BM": [64, 128], "BN": [128, 64, 256], "BK": [32, 64], "WM": [32, 64], "WN": [64, 32],
               "STAGES": [4, 3, 2]},
  "constraints": ["(BM / WM) * (BN / WN) >= 2", "(BM / WM) * (BN / WN) <= 8",
                  "STAGES * (BM * (2 * BK + 16) + BK * (2 * BN + 16)) <= 101376"],
  "launches": [
    {"kernel": "conv2d", "grid": ["ceil_div(H * W, BN) * ceil_div(K, BM)", "B", 1],
     "block": ["32 * (BM / WM) * (BN / WN)", 1, 1],
     "shared_bytes": "STAGES * (BM * (2 * BK + 16) + BK * (2 * BN + 16))", "args": ["x", "w", "y", "H * W", "C", "K"]}
  ]
}
*/
// y[b, f, p] = sum_c w[f, c] x[b, c, p]; x: [B, C, pixels], w: [K, C], y: [B, K, pixels].
//
// A block makes BM x BN of y in steps of BK channels; each of its warps makes WM x WN of it by m16n8k16. cp.async
// fetches STAGES - 1 steps ahead, and writes zeros beyond the edges. Pixels are contiguous in x, so that ldmatrix
// transposes its part. Rows are padded by 16 bytes, so that ldmatrix finds eight rows in different banks. Consecutive
// blocks take all filters of a tile of pixels before the next tile. Rows of x and y are aligned to 16 bytes only if
// images have a multiple of 8 pixels: 14 x 14 of them are copied and stored by 8 bytes, 7 x 7 element by element. So is
// w where C is no multiple of 8.
//
// Compiled for sm_80, sm_90a and sm_100 and executed on the cpu device.
#include <cuda_bf16.h>
#include <kw/pack.cuh>

using namespace kw;

constexpr int kWarpsAcross = BN / WN, kThreads = 32 * (BM / WM) * kWarpsAcross;
constexpr int kPitchW = 2 * BK + 16, kPitchX = 2 * BN + 16, kBytesW = BM * kPitchW, kStage = kBytesW + BK * kPitchX;

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
template <int bytes>
__device__ __forceinline__ void copy(unsigned to, const void* from, bool inside) {
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(bytes),
                 "r"(inside ? bytes : 0)
                 : "memory");
  }
}
__device__ __forceinline__ void load_matrices(unsigned (&words)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}
__device__ __forceinline__ void load_transposed(unsigned (&words)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
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

// A tile of kRows x kColumns elements of a row-major [rows, columns] matrix from (row0, column0) on, zeros outside it,
// by copies of `width` elements, of which rows have a multiple. Single elements are copied at once.
template <int width, int kRows, int kColumns, int kPitch>
__device__ __forceinline__ void fetch_tile(unsigned char* to, const __nv_bfloat16* __restrict__ from, int row0,
                                           int column0, int rows, int columns) {
  constexpr int kEach = kColumns / width, kCopies = kRows * kEach / kThreads;
  static_assert(kRows * kEach % kThreads == 0, "copies");
#pragma unroll(width == 8 ? kCopies : 1)
  for (int a = 0; a < kCopies; ++a) {
    const int e = a * kThreads + threadIdx.x, r = e / kEach, c = e % kEach * width;
    const bool inside = row0 + r < rows && column0 + c < columns;
    const __nv_bfloat16* source = from + (inside ? (size_t)(row0 + r) * columns + column0 + c : 0);
    if constexpr (width > 1) {
      copy<2 * width>(shared_address(to + r * kPitch + 2 * c), source, inside);
    } else {
      *(unsigned short*)(to + r * kPitch + 2 * c) = inside ? *(const unsigned short*)source : (unsigned short)0;
    }
  }
}

// One step's tiles of w and x where rows of one are not aligned to 16 bytes.
__device__ __noinline__ void fetch_narrowly(unsigned char* to, const __nv_bfloat16* w, const __nv_bfloat16* x, int m0,
                                            int n0, int c0, int pixels, int C, int K) {
  if (C % 8 == 0) {
    fetch_tile<8, BM, BK, kPitchW>(to, w, m0, c0, K, C);
  } else {
    fetch_tile<1, BM, BK, kPitchW>(to, w, m0, c0, K, C);
  }
  if (pixels % 4 == 0) {
    fetch_tile<4, BK, BN, kPitchX>(to + kBytesW, x, c0, n0, C, pixels);
  } else if (pixels % 2 == 0) {
    fetch_tile<2, BK, BN, kPitchX>(to + kBytesW, x, c0, n0, C, pixels);
  } else {
    fetch_tile<1, BK, BN, kPitchX>(to + kBytesW, x, c0, n0, C, pixels);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, kThreads <= 128 ? 2 : 1)
    conv2d(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y,
           int pixels, int C, int K) {
  extern __shared__ __align__(16) unsigned char raw[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, down = (K + BM - 1) / BM;
  const int m0 = blockIdx.x % down * BM, n0 = blockIdx.x / down * BN, steps = (C + BK - 1) / BK;
  const unsigned stages = shared_address(raw);
  x += (size_t)blockIdx.y * C * pixels;
  y += (size_t)blockIdx.y * K * pixels;

  const auto fetch = [&](int step) {
    if (step < steps) {
      unsigned char* to = raw + step % STAGES * kStage;
      if (C % 8 == 0 && pixels % 8 == 0) {
        fetch_tile<8, BM, BK, kPitchW>(to, w, m0, step * BK, K, C);
        fetch_tile<8, BK, BN, kPitchX>(to + kBytesW, x, step * BK, n0, C, pixels);
      } else {
        fetch_narrowly(to, w, x, m0, n0, step * BK, pixels, C, K);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll 1
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
        load_matrices(left[i], stage + (row + 16 * i + lane % 16) * kPitchW + 2 * k + lane / 16 * 16);
      }
#pragma unroll
      for (int j = 0; j < WN / 16; ++j) {  // words 0 and 1 are of the first eight pixels, 2 and 3 of the others
        load_transposed(right[j], stage + kBytesW + (k + lane % 16) * kPitchX + 2 * (column + 16 * j) + lane / 16 * 16);
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
    __nv_bfloat16* to = y + (size_t)m * pixels;
#pragma unroll
    for (int j = 0; j < WN / 8; j += 4) {
      unsigned words[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float* d = &sums[i / 2][j + e][i % 2 * 2];
        words[e] = pack_bf16(d[0], d[1]);
      }
      transpose(words, lane);
      const int p = n0 + column + 8 * j + lane % 4 * 8;
      if (m >= K || p >= pixels) continue;
      if (pixels % 8 == 0) {
        *(uint4*)(to + p) = make_uint4(words[0], words[1], words[2], words[3]);
      } else if (pixels % 4 == 0) {
        *(uint2*)(to + p) = make_uint2(words[0], words[1]);
        if (p + 4 < pixels) *(uint2*)(to + p + 4) = make_uint2(words[2], words[3]);
      } else {
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          if (p + e < pixels) *(unsigned short*)(to + p + e) = (unsigned short)(words[e / 2] >> (e % 2 * 16));
        }
      }
    }
  }
}
