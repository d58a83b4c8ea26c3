/* kernelwright
{
  "problem": "gemm_tf32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "mma.sync, STAGES tiles under way by cp.async, wide loads of b along n",
  "tunables": {"BM": [128, 256, 64], "BN": [128, 256, 64], "WM": [64, 32], "WN": [64, 32], "STAGES": [3, 4, 2],
               "BAND": [8, 16, 4]},
  "constraints": ["(BM / WM) * (BN / WN) >= 4", "(BM / WM) * (BN / WN) <= 8",
                  "STAGES * (128 * BM + 128 * (BN + 8)) <= 166912"],
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(M, BM) * ceil_div(N, BN)", 1, 1],
     "block": ["32 * (BM / WM) * (BN / WN)", 1, 1], "shared_bytes": "STAGES * (128 * BM + 128 * (BN + 8))",
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// A block makes a BM x BN tile of c in steps of 32 along k, each of its warps WM x WN of it with mma.sync (m16n8k8).
// STAGES pairs of tiles are in shared memory or under way to it by cp.async, in words of 16 bytes where rows are
// aligned to that, else of 4; zeros stand for what lies outside.
// Rows of a have 128 bytes, swizzled; ldmatrix takes fragments from them, since an element of TF32 is a pair of 16-bit
// ones to it. From a row of b a thread takes four neighbours at once. They go to four fragments: column g of fragment e
// is column 4 g + e of 32. So a thread ends with eight neighbours of a row of c.
// The instruction cuts off the bits that TF32 lacks; half a unit in the last place, added before, makes that a rounding
// to the nearest. Blocks go through the tiles of c in bands of BAND along m, to share rows of a and columns of b in L2.
constexpr int kDepth = 32, kWarpsAcross = BN / WN, kThreads = 32 * (BM / WM) * kWarpsAcross;
constexpr int kBytesA = BM * kDepth * 4, kRowB = (BN + 8) * 4, kBytes = kBytesA + kDepth * kRowB;
constexpr int kRowsOf16 = WM / 16, kColumnsOf32 = WN / 32;
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

// Starts the copies of this thread's share of a tile from (row, column) on, whose rows have 4 * CHUNKS elements.
template <int CHUNKS, int ROWS, typename Place>
__device__ __forceinline__ void copy_tile(const float* __restrict__ from, int row, int column, int rows, int columns,
                                          const Place& place) {
  constexpr int kApart = kThreads / CHUNKS;
  const int chunk = threadIdx.x % CHUNKS, first = threadIdx.x / CHUNKS;
  const int count = columns - column - 4 * chunk;
  const float* at = from + (size_t)(row + first) * columns + column + 4 * chunk;
#pragma unroll
  for (int i = 0; i < ROWS / kApart; ++i) {
    const bool inside = row + first + i * kApart < rows && count > 0;
    copy_four(place(first + i * kApart, chunk), inside ? at : from, inside ? count : 0, columns % 4 == 0);
    at += (size_t)kApart * columns;
  }
}

__device__ __forceinline__ void copy_tiles(unsigned to, const float* __restrict__ a, const float* __restrict__ b,
                                           int m0, int n0, int k0, int M, int N, int K) {
  copy_tile<8, BM>(a, m0, k0, M, K, [&](int row, int chunk) { return to + swizzled(row, chunk); });
  copy_tile<BN / 4, kDepth>(b, k0, n0, K, N,
                            [&](int row, int chunk) { return to + kBytesA + row * kRowB + 16 * chunk; });
}

struct Fragments {
  unsigned a[kRowsOf16][4], b[kColumnsOf32][2][4];
};

// row: of a, that the lane names for ldmatrix. right: where the thread begins to read b.
__device__ __forceinline__ void load(Fragments& f, unsigned tiles, int row, unsigned right, int k) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < kRowsOf16; ++i) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f.a[i][0]), "=r"(f.a[i][1]), "=r"(f.a[i][2]), "=r"(f.a[i][3])
                 : "r"(tiles + swizzled(row + 16 * i, k / 4 + lane / 16))
                 : "memory");
#pragma unroll
    for (int j = 0; j < 4; ++j) f.a[i][j] += kHalf;
  }
#pragma unroll
  for (int i = 0; i < 2 * kColumnsOf32; ++i) {
    unsigned(&four)[4] = f.b[i / 2][i % 2];
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(four[0]), "=r"(four[1]), "=r"(four[2]), "=r"(four[3])
                 : "r"(right + (k + i % 2 * 4) * kRowB + i / 2 * 128)
                 : "memory");
#pragma unroll
    for (int j = 0; j < 4; ++j) four[j] += kHalf;
  }
}

__device__ __forceinline__ void multiply(float (&sums)[kRowsOf16][kColumnsOf32][4][4], const Fragments& f) {
#pragma unroll
  for (int i = 0; i < kRowsOf16; ++i) {
#pragma unroll
    for (int j = 0; j < kColumnsOf32; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float(&d)[4] = sums[i][j][e];
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(f.a[i][0]), "r"(f.a[i][1]), "r"(f.a[i][2]), "r"(f.a[i][3]), "r"(f.b[j][0][e]), "r"(f.b[j][1][e]));
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int M, int N, int K) {
  extern __shared__ __align__(128) unsigned char raw[];
  const unsigned memory = (unsigned)__cvta_generic_to_shared(raw);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
  const int down = (M + BM - 1) / BM, across = (N + BN - 1) / BN, steps = (K + kDepth - 1) / kDepth;
  const int band = blockIdx.x / (BAND * across), within = blockIdx.x % (BAND * across);
  const int rows = min(BAND, down - band * BAND);
  const int m0 = (band * BAND + within % rows) * BM, n0 = within / rows * BN;
  const int warp_row = warp / kWarpsAcross * WM, warp_column = warp % kWarpsAcross * WN;
  const int row = warp_row + lane % 16;
  const unsigned right = kBytesA + q * kRowB + (warp_column + 4 * g) * 4;

#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < steps) copy_tiles(memory + s * kBytes, a, b, m0, n0, s * kDepth, M, N, K);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  float sums[kRowsOf16][kColumnsOf32][4][4] = {};
  Fragments fragments[2];
  int stage = 0, ahead = STAGES - 1;
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();  // the tiles are here, and all have left the stage that is filled now
    if (step + STAGES - 1 < steps) {
      copy_tiles(memory + ahead * kBytes, a, b, m0, n0, (step + STAGES - 1) * kDepth, M, N, K);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    const unsigned tiles = memory + stage * kBytes;
    load(fragments[0], tiles, row, tiles + right, 0);
#pragma unroll
    for (int k = 0; k < kDepth; k += 8) {
      if (k + 8 < kDepth) load(fragments[(k / 8 + 1) % 2], tiles, row, tiles + right, k + 8);
      multiply(sums, fragments[k / 8 % 2]);
    }
    stage = stage + 1 == STAGES ? 0 : stage + 1;
    ahead = ahead + 1 == STAGES ? 0 : ahead + 1;
  }

#pragma unroll
  for (int i = 0; i < 2 * kRowsOf16; ++i) {
    const int m = m0 + warp_row + 8 * i + g;
    if (m >= M) continue;
#pragma unroll
    for (int j = 0; j < 2 * kColumnsOf32; ++j) {  // four columns
      const int n = n0 + warp_column + j / 2 * 32 + 8 * q + j % 2 * 4;
      float* to = c + (size_t)m * N + n;
      float four[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) four[e] = sums[i / 2][j / 2][e][i % 2 * 2 + j % 2];
      if (N % 4 == 0) {
        if (n < N) __stcs((float4*)to, make_float4(four[0], four[1], four[2], four[3]));
        continue;
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (n + e < N) __stcs(to + e, four[e]);
      }
    }
  }
}
