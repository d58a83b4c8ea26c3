// Products of f32 matrices of any shape on tensor cores, with all 24 bits: twice as fast as f32 arithmetic can be.
// arch: sm_90a
// problems: wide_product
//
// c[m][n] = sum_k a[m][k] b[k][n]. Each f32 is the sum of three bf16 pieces; wgmma multiplies pieces and keeps the sums
// in f32: more precise than a loop of FMAs, so a contract that forbids TF32 allows it. What pieces make inexact (denormals
// beside spikes, infinity) is repaired. At 4096 both launches reach 128 TFLOP/s on an H200; cuBLAS's f32 reaches 51.
//
// Two launches. split() writes the pieces of a and b into workspaces; each block of 256 threads makes one tile of 128 x
// 64, so the grid is "ceil_div(K, 64) * (ceil_div(M, 128) + ceil_div(N, 128))". multiply() takes 384 threads, one block
// for each multiprocessor and "STAGES * 98304 + 1024" bytes of dynamic shared memory, STAGES 1 or 2. Workspaces:
//   "a_pieces": {"bytes": "ceil_div(M, 128) * ceil_div(K, 64) * 49152"}, "b_pieces": the same with N for M,
//   "sizes": {"bytes": 4, "zeroed": true}, an unsigned: what split() saw, see may_lose_bits.
// You say where elements come from (a padded matrix, a convolution's windows) and where results go (bias, activation).
// Both launches take the same two loaders. They are asked for elements outside the matrix, too, and give 0 there:
//   load_a(m, k, x): x[i] = a[m][k + i] for i < 8. k is a multiple of 8.
//   load_b: where b's rows run along k (b is [N, K]), (n, k, x): x[i] = b[k + i][n]; with kw::pieces::along_n (b is
//     [K, N]), (k, n, x): x[i] = b[k][n + i], n a multiple of 8.
//   store(m, n, x, y): results (m, n) and (m, n + 1); m < M, n < N, n is even; check n + 1 < N.
//
//   struct LoadA {
//     const float* a; int M, K;
//     __device__ void operator()(int m, int k, float (&x)[8]) const { kw::pieces::load_row(a, K, M, m, k, x); }
//   };
//   kw::pieces::split<kw::pieces::along_n>(a_pieces, b_pieces, sizes, M, N, K, LoadA{a, M, K}, LoadB{b, K, N});
//   kw::pieces::multiply<STAGES, kw::pieces::along_n>(
//       a_pieces, b_pieces, sizes, M, N, K, LoadA{a, M, K}, LoadB{b, K, N}, [&](int m, int n, float x, float y) {
//         c[(size_t)m * N + n] = x;
//         if (n + 1 < N) c[(size_t)m * N + n + 1] = y;
//       });
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>
namespace kw {
namespace pieces {

enum Layout { along_k, along_n };  // of the eight elements that load_b gives

constexpr int kTile = 128, kDepth = 64;          // of a step: rows of a, or columns of b, and k
constexpr int kPiece = kTile * kDepth * 2;       // bytes of one piece of a step
constexpr int kBytes = 3 * kPiece;               // of a step, of a or b
constexpr int kBox = 64 * kDepth * 2;            // 64 columns of b along n: 64 rows of 128 bytes
constexpr int kBand = 16;                        // tiles along m that are in work together and share pieces in L2

// Eight neighbours of a row-major matrix, zero outside it. `column` is a multiple of 8.
__device__ __forceinline__ void load_row(const float* from, int columns, int rows, int row, int column, float (&x)[8]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = 0.0f;
  if (row >= rows || column >= columns) return;
  const float* at = from + (size_t)row * columns + column;
  if (columns % 4 == 0) {
    const float4 low = __ldg((const float4*)at);
    x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
    if (column + 4 < columns) {
      const float4 high = __ldg((const float4*)at + 1);
      x[4] = high.x, x[5] = high.y, x[6] = high.z, x[7] = high.w;
    }
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (column + i < columns) x[i] = __ldg(at + i);
    }
  }
}

// What split() sees among the elements of a; those of b have the bits kOfB times as high.
enum Sizes { kTiny = 1, kLarge = 2, kNotFinite = 4, kOfB = 8 };

// Pieces of an element below 2^-110 lose up to 2^-134, which is nothing beside the least normal f32 unless the other
// matrix has elements of 2^8 and more; infinity and NaN have no pieces. Then multiply() looks at each step, see repair_step.
__device__ __forceinline__ bool may_lose_bits(unsigned sizes) {
  const unsigned a = sizes % kOfB, b = sizes / kOfB;
  return ((a | b) & kNotFinite) || ((a & kTiny) && (b & kLarge)) || ((b & kTiny) && (a & kLarge));
}

// Writes the pieces of eight elements, each x = h + m + l: h is x without its lower 16 bits (not rounded: the largest x
// stays finite), m is x - h rounded, l = x - h - m. Returns Sizes.
__device__ __forceinline__ unsigned store_pieces(const float (&x)[8], unsigned char* to) {
  constexpr unsigned kTinyBelow = 17u << 23, kLargeFrom = 135u << 23, kInfinity = 255u << 23;  // 2^-110, 2^8
  unsigned h[4], m[4], l[4], most = 0, least = kInfinity;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float rest[2];
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const unsigned bits = __float_as_uint(x[2 * i + j]), size = bits & 0x7fffffffu;
      most = max(most, size);
      least = min(least, size - 1);  // zero is not tiny
      rest[j] = x[2 * i + j] - __uint_as_float(bits & 0xffff0000u);
    }
    h[i] = __byte_perm(__float_as_uint(x[2 * i]), __float_as_uint(x[2 * i + 1]), 0x7632);
    m[i] = pack_bf16(rest[0], rest[1]);
    l[i] = pack_bf16(rest[0] - __uint_as_float(m[i] << 16), rest[1] - __uint_as_float(m[i] & 0xffff0000u));
  }
  *(uint4*)to = make_uint4(h[0], h[1], h[2], h[3]);
  *(uint4*)(to + kPiece) = make_uint4(m[0], m[1], m[2], m[3]);
  *(uint4*)(to + 2 * kPiece) = make_uint4(l[0], l[1], l[2], l[3]);
  return (least < kTinyBelow - 1 ? kTiny : 0) | (most >= kLargeFrom ? kLarge : 0) | (most >= kInfinity ? kNotFinite : 0);
}

// Where 16 bytes of a tile with rows of 128 bytes lie, swizzled.
__device__ __forceinline__ int place(int bytes) { return bytes ^ ((bytes >> 7 & 7) << 4); }

// One tile whose rows run along k. Returns Sizes.
template <typename Load>
__device__ __forceinline__ unsigned split_rows(const Load& load, int row0, int k0, unsigned char* to) {
  unsigned found = 0;
  float x[8];
#pragma unroll
  for (int e = threadIdx.x; e < kTile * kDepth / 8; e += 256) {
    load(row0 + e / 8, k0 + e % 8 * 8, x);
    found |= store_pieces(x, to + place(e * 16));
  }
  return found;
}

// Tiles of a_pieces: [M / 128][K / 64], each [3][128][64]; of b_pieces: [N / 128][K / 64], the same, or along n
// [3][2][64][64]. What lies outside the matrix is 0.
template <Layout layout, typename A, typename B>
__device__ __forceinline__ void split(unsigned char* a_pieces, unsigned char* b_pieces, unsigned* sizes, int M, int N,
                                      int K, const A& load_a, const B& load_b) {
  const int steps = (K + kDepth - 1) / kDepth, down = (M + kTile - 1) / kTile, across = (N + kTile - 1) / kTile;
  const int tile = blockIdx.x, t = tile - down * steps;
  unsigned found = 0;
  if (t < 0) {
    found = split_rows(load_a, tile / steps * kTile, tile % steps * kDepth, a_pieces + (size_t)tile * kBytes);
  } else if constexpr (layout == along_k) {
    found = split_rows(load_b, t / steps * kTile, t % steps * kDepth, b_pieces + (size_t)t * kBytes);
  } else {
    const int step = t / across, column = t % across;  // neighbours read the same rows
    unsigned char* to = b_pieces + ((size_t)column * steps + step) * kBytes;
    float x[8];
#pragma unroll
    for (int e = threadIdx.x; e < kDepth * kTile / 8; e += 256) {
      const int k = e / (kTile / 8), n = e % (kTile / 8) * 8;
      load_b(step * kDepth + k, column * kTile + n, x);
      found |= store_pieces(x, to + n / 64 * kBox + place(k * 128 + n % 64 * 2));
    }
  }
  found = __reduce_or_sync(0xffffffffu, t < 0 ? found : found * kOfB);
  if (found && threadIdx.x % 32 == 0) atomicOr(sizes, found);
}

// The products of one step. Of nine, l * l, l * m and m * l are left out: some 2^-25 of the whole, of either sign.
template <Layout layout>
__device__ __forceinline__ void multiply_step(float (&high)[64], float (&low)[64], unsigned long long left,
                                              unsigned long long right) {
  constexpr int of_a[6] = {2, 0, 1, 1, 0, 0}, of_b[6] = {0, 2, 1, 0, 1, 0};  // 0: h, 1: m, 2: l; the least come first
  constexpr int next = layout == along_n ? 2048 : 32;                        // bytes to the next 16 of k
#pragma unroll
  for (int p = 0; p < 6; ++p) {
#pragma unroll
    for (int k = 0; k < kDepth / 16; ++k) {
      wgmma::multiply<wgmma::bf16, layout == along_n ? wgmma::mn_major : wgmma::k_major>(
          p == 5 ? high : low, left + ((of_a[p] * kPiece + k * 32) >> 4), right + ((of_b[p] * kPiece + k * next) >> 4),
          k > 0 || (p > 0 && p < 5));
    }
  }
}

// The exponent (0 to 255, as f32 has it) of the largest of `bytes` of pieces h at a shared address. For all lanes of a warp.
__device__ __forceinline__ unsigned largest_exponent(unsigned from, int bytes) {
  unsigned most = 0;
  for (int i = threadIdx.x % 32 * 16; i < bytes; i += 32 * 16) {
    const uint4 eight = load_four(from + i);
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const unsigned two = w == 0 ? eight.x : w == 1 ? eight.y : w == 2 ? eight.z : eight.w;
      most = max(most, max(two & 0x7f800000u, two << 16 & 0x7f800000u));
    }
  }
  return __reduce_max_sync(0xffffffffu, most) >> 23;
}

// Results (m, n), (m, n + 1), (m + 8, n), (m + 8, n + 1) of one step, in f32 arithmetic. n is even.
template <Layout layout, typename A, typename B>
__device__ __forceinline__ void multiply_four(float (&sums)[4], int m, int n, int k0, int K, const A& load_a,
                                              const B& load_b) {
  sums[0] = sums[1] = sums[2] = sums[3] = 0.0f;
#pragma unroll 1
  for (int k = k0; k < min(k0 + kDepth, K); k += 8) {
    float above[8], below[8], right[8], next[8];
    load_a(m, k, above);
    load_a(m + 8, k, below);
    if constexpr (layout == along_k) {
      load_b(n, k, right);
      load_b(n + 1, k, next);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float x, y;
      if constexpr (layout == along_k) {
        x = right[i], y = next[i];
      } else {
        if (k + i >= K) break;
        load_b(k + i, n / 8 * 8, right);
        const int of_eight = n % 8;
        x = of_eight == 0 ? right[0] : of_eight == 2 ? right[2] : of_eight == 4 ? right[4] : right[6];
        y = of_eight == 0 ? right[1] : of_eight == 2 ? right[3] : of_eight == 4 ? right[5] : right[7];
      }
      sums[0] += above[i] * x;
      sums[1] += above[i] * y;
      sums[2] += below[i] * x;
      sums[3] += below[i] * y;
    }
  }
}

// Where the matrices may lose bits: makes those results of a step again that could differ by 2^-30 of themselves, of which
// (m, n) is this thread's first. Each of 64 products loses 2^-134 times the larger matrix element of the step, twice;
// `exponent` is that element's. So one spike beside denormals costs a few steps, and timed inputs have such.
template <Layout layout, typename A, typename B>
__device__ __forceinline__ void repair_step(float (&results)[64], unsigned exponent, int m, int n, int k0,
                                            int M, int N, int K, const A& load_a, const B& load_b) {
  const float enough = exponent == 255 ? __uint_as_float(0x7fffffffu)  // NaN: none is
                                       : __uint_as_float(max(exponent, 97u) - 96u << 23);
  unsigned doubtful = 0;  // of 16 groups of four results
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    if (!(fabsf(results[i]) >= enough)) doubtful |= 1u << i / 4;
  }
  while (doubtful) {
    const int j = __ffs(doubtful) - 1;
    doubtful &= doubtful - 1;
    if (m >= M || n + 8 * j >= N) continue;
    float exact[4];
    multiply_four<layout>(exact, m, n + 8 * j, k0, K, load_a, load_b);
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      if (i / 4 == j) results[i] = exact[i % 4];
    }
  }
}

// Two warpgroups own 64 x 128 of a tile of 128 x 128 each; blocks take tiles in turn. One thread of a third warpgroup
// copies STAGES steps ahead, also into the next tile. wgmma cuts off what it adds to its sums, so that their error grows
// with each addition and in one direction: they begin at zero for each step and are added in f32, rounded to nearest.
// Products h * h have 16 bits, and few fall below their sums; the others have sums apart, some 2^8 times smaller.
template <int stages, Layout layout, typename A, typename B, typename Store>
__device__ __forceinline__ void multiply(const unsigned char* a_pieces, const unsigned char* b_pieces, const unsigned* sizes,
                                         int M, int N, int K, const A& load_a, const B& load_b, const Store& store) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[2 * stages];
  const bool careful = may_lose_bits(*sizes);
  const unsigned memory = round_up(shared_address(raw), 1024);  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers), empty = full + 8 * stages;
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32, t = threadIdx.x % 128;
  const int steps = (K + kDepth - 1) / kDepth, down = (M + kTile - 1) / kTile, across = (N + kTile - 1) / kTile;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      mbarrier::init(full + 8 * s, 1);
      mbarrier::init(empty + 8 * s, 8);  // warps
    }
    mbarrier::fence_init();
  }
  __syncthreads();

  const auto find = [&](int tile, int& row, int& column) {
    const int band = tile / (kBand * across), within = tile % (kBand * across);
    const int rows = min(kBand, down - band * kBand);
    row = band * kBand + within % rows;
    column = within / rows;
  };
  Ring<stages> ring;
  int row, column;
  if (group == 2) {
    warpgroup::keep_registers<24>();
    if (threadIdx.x == 256) {  // the producer
      for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
        find(tile, row, column);
        const unsigned char* left = a_pieces + (size_t)row * steps * kBytes;
        const unsigned char* right = b_pieces + (size_t)column * steps * kBytes;
        for (int step = 0; step < steps; ++step) {
          const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * 2 * kBytes;
          mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
          mbarrier::expect(barrier, 2 * kBytes);
          tma::load_bytes(to, left + (size_t)step * kBytes, kBytes, barrier);
          tma::load_bytes(to + kBytes, right + (size_t)step * kBytes, kBytes, barrier);
          ring.advance();
        }
      }
    }
    return;
  }
  warpgroup::take_registers<240>();
  for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
    find(tile, row, column);
    float sums[64];
    float high[64], low[64];  // of one step: of h * h, and of the other products
#pragma unroll
    for (int i = 0; i < 64; ++i) sums[i] = 0.0f;
    for (int step = 0; step < steps; ++step) {
      mbarrier::wait(full + 8 * ring.stage, ring.phase);
      const unsigned from = memory + ring.stage * 2 * kBytes;
      const unsigned long long left = wgmma::k_major_tile(from + group * (kPiece / 2));
      const unsigned long long right =
          layout == along_n ? wgmma::mn_major_tile(from + kBytes, kBox) : wgmma::k_major_tile(from + kBytes);
      wgmma::fence();
      multiply_step<layout>(high, low, left, right);
      wgmma::commit();
      unsigned exponent = 0;
      if (careful) {
        exponent = max(largest_exponent(from + group * (kPiece / 2) + t / 32 * (kPiece / 8), kPiece / 8),
                       largest_exponent(from + kBytes, kPiece));
        __syncwarp();  // all lanes have read before one gives the stage back
      }
      wgmma::wait<0>();
      wgmma::settle(high);
      wgmma::settle(low);
      if (lane == 0) mbarrier::arrive(empty + 8 * ring.stage);
      ring.advance();
#pragma unroll
      for (int i = 0; i < 64; ++i) high[i] += low[i];
      if (careful) {
        repair_step<layout>(high, exponent, row * kTile + 64 * group + t / 32 * 16 + t % 32 / 4,
                            column * kTile + t % 4 * 2, step * kDepth, M, N, K, load_a, load_b);
      }
#pragma unroll
      for (int i = 0; i < 64; ++i) sums[i] += high[i];
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int m = row * kTile + 64 * group + t / 32 * 16 + t % 32 / 4 + 8 * r;
#pragma unroll
      for (int j = 0; j < 16; ++j) {
        const int n = column * kTile + 8 * j + t % 4 * 2;
        if (m < M && n < N) store(m, n, sums[4 * j + 2 * r], sums[4 * j + 2 * r + 1]);
      }
    }
  }
}

}  // namespace pieces
}  // namespace kw
