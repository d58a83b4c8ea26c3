/* kernelwright
{
  "problem": "conv2d_tf32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "implicit GEMM with mma.sync: BM pixels by BN filters, steps of a tap's 32 channels by cp.async",
  "tunables": {"BM": [128, 256, 64], "BN": [128, 64], "WM": [64, 32], "WN": [32, 64], "STAGES": [3, 4, 2]},
  "constraints": ["(BM / WM) * (BN / WN) >= 4", "(BM / WM) * (BN / WN) <= 8", "STAGES * 128 * (BM + BN) <= 166912"],
  "launches": [
    {"kernel": "conv2d",
     "grid": ["ceil_div(K, BN)", "min(65535, ceil_div(B * H * W, BM))", "ceil_div(B * H * W, 65535 * BM)"],
     "block": ["32 * (BM / WM) * (BN / WN)", 1, 1], "shared_bytes": "STAGES * 128 * (BM + BN)",
     "args": ["x", "w", "y", "B * H * W", "H", "W", "C", "K"]}
  ]
}
*/
// y[b, i, j, f] = sum_{r, s, c} x[b, i + r - 1, j + s - 1, c] w[f, r, s, c]; x: [B, H, W, C], w: [K, 3, 3, C],
// y: [B, H, W, K], all fp32.
//
// A product of pixels by filters whose inner dimension runs over taps and, within a tap, channels. A step is 32
// channels of a tap. STAGES pairs of tiles are in shared memory or under way to it by cp.async, in words of 16 bytes
// where C is a multiple of four, else of 4; zeros stand for what lies outside. A thread copies the same pixels in all
// steps: a tap moves their addresses by a constant, and whether it lies in the image is a bit of a mask. Rows of a tile
// have 128 bytes, swizzled; ldmatrix takes the fragments of both from them, since an element of TF32 is a pair of
// 16-bit ones to it. Each warp makes WM x WN results with mma.sync (m16n8k8). The instruction cuts off the bits that
// TF32 lacks; half a unit in the last place, added before, makes that a rounding to the nearest.
//
// Bound by the tensor cores. H200, 2026-11-28, judged once: 299 us at 16 x 128 x 128, 64 to 128 channels.
constexpr int kWarpsAcross = BN / WN, kThreads = 32 * (BM / WM) * kWarpsAcross, kApart = kThreads / 8;
constexpr int kBytesA = BM * 128, kBytes = kBytesA + BN * 128;
constexpr int kRowsOf16 = WM / 16, kColumnsOf16 = WN / 16;
constexpr unsigned kHalf = 0x1000;  // of the last bit that TF32 keeps

__device__ __forceinline__ int swizzled(int row, int chunk) { return row * 128 + ((chunk ^ (row % 8)) << 4); }

// Starts the copy of `count` of four elements; the others become zero. aligned: to 16 bytes.
__device__ __forceinline__ void copy_four(unsigned to, const float* at, int count, bool aligned) {
  if (aligned) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(at), "r"(count > 0 ? 16 : 0)
                 : "memory");
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to + 4 * i), "l"(i < count ? at + i : at),
                   "r"(i < count ? 4 : 0)
                   : "memory");
    }
  }
}

// Four matrices of eight rows of four elements, rounded; each lane names a row.
__device__ __forceinline__ void load_matrices(unsigned (&four)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(four[0]), "=r"(four[1]), "=r"(four[2]), "=r"(four[3])
               : "r"(from)
               : "memory");
#pragma unroll
  for (int i = 0; i < 4; ++i) four[i] += kHalf;
}

struct Fragments {
  unsigned a[kRowsOf16][4], b[kColumnsOf16][4];
};

// row, filter: of the tiles, that the lane names; k: of 32 channels.
__device__ __forceinline__ void load(Fragments& f, unsigned tiles, int row, int filter, int k) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < kRowsOf16; ++i) load_matrices(f.a[i], tiles + swizzled(row + 16 * i, k / 4 + lane / 16));
#pragma unroll
  for (int i = 0; i < kColumnsOf16; ++i) {
    load_matrices(f.b[i], tiles + kBytesA + swizzled(filter + 16 * i, k / 4 + lane / 8 % 2));
  }
}

__device__ __forceinline__ void multiply(float (&sums)[kRowsOf16][2 * kColumnsOf16][4], const Fragments& f) {
#pragma unroll
  for (int i = 0; i < kRowsOf16; ++i) {
#pragma unroll
    for (int j = 0; j < 2 * kColumnsOf16; ++j) {
      float(&d)[4] = sums[i][j];
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(f.a[i][0]), "r"(f.a[i][1]), "r"(f.a[i][2]), "r"(f.a[i][3]), "r"(f.b[j / 2][j % 2 * 2]),
            "r"(f.b[j / 2][j % 2 * 2 + 1]));
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    conv2d(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int pixels, int H, int W,
           int C, int K) {
  extern __shared__ __align__(128) unsigned char raw[];
  const unsigned memory = (unsigned)__cvta_generic_to_shared(raw);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int p0 = (blockIdx.z * gridDim.y + blockIdx.y) * BM, f0 = blockIdx.x * BN;
  if (p0 >= pixels) return;
  const int parts = (C + 31) / 32, steps = 9 * parts;
  const bool aligned = C % 4 == 0;

  // This thread copies a chunk of rows line, line + kApart and so on of both tiles.
  const int chunk = threadIdx.x % 8, line = threadIdx.x / 8;
  unsigned inside[BM / kApart] = {};  // bit `tap`: the pixel of the tap is in the image
#pragma unroll
  for (int h = 0; h < BM / kApart; ++h) {
    const int p = p0 + line + kApart * h, i = p / W % H, j = p % W;
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) {
      const int r = i + tap / 3 - 1, s = j + tap % 3 - 1;
      if (p < pixels && r >= 0 && r < H && s >= 0 && s < W) inside[h] |= 1u << tap;
    }
  }
  int tap = 0, c0 = 0;  // of the next step to fetch
  const auto fetch = [&](int stage) {
    const unsigned to = memory + stage * kBytes;
    const int c = c0 + 4 * chunk, there = min(max(C - c, 0), 4), shift = (tap / 3 - 1) * W + tap % 3 - 1;
#pragma unroll
    for (int h = 0; h < BM / kApart; ++h) {
      const int row = line + kApart * h, count = inside[h] >> tap & 1 ? there : 0;
      copy_four(to + swizzled(row, chunk), count > 0 ? x + (size_t)(p0 + row + shift) * C + c : x, count, aligned);
    }
#pragma unroll
    for (int h = 0; h < BN / kApart; ++h) {
      const int row = line + kApart * h, count = f0 + row < K ? there : 0;
      copy_four(to + kBytesA + swizzled(row, chunk), count > 0 ? w + ((size_t)(f0 + row) * 9 + tap) * C + c : w, count,
                aligned);
    }
    c0 += 32;
    if (c0 >= C) {
      c0 = 0;
      ++tap;
    }
  };
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < steps) fetch(s);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }

  const int warp_row = warp / kWarpsAcross * WM, warp_column = warp % kWarpsAcross * WN;
  const int row = warp_row + lane % 16, filter = warp_column + lane % 8 + lane / 16 * 8;
  float sums[kRowsOf16][2 * kColumnsOf16][4] = {};
  Fragments fragments[2];
  int stage = 0, ahead = STAGES - 1;
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();  // the tiles are here, and all have left the stage that is filled now
    if (step + STAGES - 1 < steps) fetch(ahead);
    asm volatile("cp.async.commit_group;" ::: "memory");
    const unsigned tiles = memory + stage * kBytes;
    load(fragments[0], tiles, row, filter, 0);
#pragma unroll
    for (int k = 0; k < 32; k += 8) {
      if (k + 8 < 32) load(fragments[(k / 8 + 1) % 2], tiles, row, filter, k + 8);
      multiply(sums, fragments[k / 8 % 2]);
    }
    stage = stage + 1 == STAGES ? 0 : stage + 1;
    ahead = ahead + 1 == STAGES ? 0 : ahead + 1;
  }

#pragma unroll
  for (int i = 0; i < 2 * kRowsOf16; ++i) {
    const int p = p0 + warp_row + 8 * i + lane / 4;
    if (p >= pixels) continue;
#pragma unroll
    for (int j = 0; j < 2 * kColumnsOf16; ++j) {
      const int f = f0 + warp_column + 8 * j + lane % 4 * 2;
      float* const to = y + (size_t)p * K + f;
      const float low = sums[i / 2][j][i % 2 * 2], high = sums[i / 2][j][i % 2 * 2 + 1];
      if (K % 2 == 0) {
        if (f < K) __stcs((float2*)to, make_float2(low, high));
      } else {
        if (f < K) __stcs(to, low);
        if (f + 1 < K) __stcs(to + 1, high);
      }
    }
  }
}
