/* kernelwright
{
  "problem": "conv2d_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent implicit GEMM, halo loaded once; with more than 64 channels seven whole rows of 28 pixels at once",
  "tunables": {"COLUMNS": [28], "IN_TURNS": [1, 0], "BLOCKS": [132]},
  "tensor_maps": {
    "x_map": {"tensor": "x", "box": [64, 10, 18, 1], "swizzle": 128,
              "when": "(C % 8 == 0) * (K % 8 == 0) * (C <= 64)"},
    "tall_map": {"tensor": "x", "box": [64, "COLUMNS + 2", "210 / (COLUMNS + 2) + 2", 1], "swizzle": 128,
                 "when": "(C % 8 == 0) * (K % 8 == 0) * (C > 64)"},
    "w_map": {"tensor": "w", "box": [64, 1, 1, 128], "swizzle": 128, "when": "(C % 8 == 0) * (K % 8 == 0)"}
  },
  "launches": [
    {"kernel": "conv2d", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1], "shared_bytes": 230400,
     "args": ["x_map", "tall_map", "w_map", "x", "w", "y", "B", "H", "W", "C", "K", "(C % 8 == 0) * (K % 8 == 0)"]}
  ]
}
*/
// y[b, i, j, f] = sum_{r, s, c} x[b, i + r - 1, j + s - 1, c] w[f, r, s, c]; x: [B, H, W, C], w: [K, 3, 3, C],
// y: [B, H, W, K].
//
// TMA brings a tile's pixels of 64 channels once, with a halo of one and zeros outside the image: rows of pixels of 128
// bytes. Tap (r, s) begins r rows and s pixels later. The swizzle goes by the bits of the address, so an operand of
// wgmma may begin at any pixel.
//
// Up to 64 channels: tiles are 16 rows of eight pixels; a group of eight rows of an operand is one of these, the next
// is ten pixels on. All nine taps of 128 filters stay in shared memory. Two warpgroups take tiles in turn from one
// ring; one multiplies while the other stores. The first tile starts when its first tap is there.
//
// More channels: pixels are the columns of the product, and each warpgroup has 64 of the filters. A tile is the run of
// 208 pixels that holds seven rows of 28, with the halo's two between rows computed and dropped: 6 % waste at 28 x 28,
// where 256 pixels waste 31 %. Taps come through a ring. Results are turned by stmatrix.
//
// Bound by the tensor cores. One H200, 2026-11-27: 52.4 us at 16x128x128x64_128 (80 % of the bound; cuDNN 66.4) and 16.9
// at 32x28x28x128_128 (46 %; cuDNN 20.1). Shapes that tensor maps cannot describe take a plain loop.
#include <cuda.h>
#include <cuda_bf16.h>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int kTapBytes = 128 * 128;       // 128 filters, 64 channels
constexpr int kMemory = 230400 - 1024;     // bytes of shared memory, aligned
constexpr int kMost = 9;                   // buffers of a ring
__device__ constexpr int round_to_kilobytes(int bytes) { return (bytes + 1023) / 1024 * 1024; }

// Where a tile begins.
template <int kTall, int kAcross>
struct Place {
  int b, i0, j0;
  __device__ __forceinline__ Place(int tile, int H, int W) {
    const int across = (W + kAcross - 1) / kAcross, down = (H + kTall - 1) / kTall;
    j0 = tile % across * kAcross;
    i0 = tile / across % down * kTall;
    b = tile / across / down;
  }
  static __device__ __forceinline__ int count(int B, int H, int W) {
    return B * ((W + kAcross - 1) / kAcross) * ((H + kTall - 1) / kTall);
  }
};

// As kw::wgmma::multiply, 64 x 208; both operands have contiguous k.
#define SUMS_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUMS(i) SUMS_4(i), SUMS_4(i + 4)
__device__ __forceinline__ void multiply(float (&d)[104], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %106, 0;\nwgmma.mma_async.sync.aligned.m64n208k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63,"
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79,"
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95,"
      "%96, %97, %98, %99, %100, %101, %102, %103"
      "}, %104, %105, p, 1, 1, 0, 0;\n}"
      : SUMS(0), SUMS(8), SUMS(16), SUMS(24), SUMS(32), SUMS(40), SUMS(48), SUMS(56), SUMS(64), SUMS(72), SUMS(80), SUMS(88), SUMS(96)
      : "l"(a), "l"(b), "r"(add));
}
#undef SUMS
#undef SUMS_4
template <int N>
__device__ __forceinline__ void multiply(float (&d)[N], unsigned long long a, unsigned long long b, int add) {
  wgmma::multiply<wgmma::bf16>(d, a, b, add);
}

// 128 pixels from (i0, j0) on.
__device__ __forceinline__ void store(const float (&sums)[2][64], __nv_bfloat16* y, int b, int i0, int j0, int f0,
                                      int H, int W, int K) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int m = 0; m < 2; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int i = i0 + m * 8 + threadIdx.x % 128 / 32 * 2 + h, j = j0 + lane / 4;
      __nv_bfloat16* to = y + (((size_t)b * H + i) * W + j) * K;
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        unsigned four[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          four[e] = pack_bf16(sums[m][16 * n + 4 * e + 2 * h], sums[m][16 * n + 4 * e + 2 * h + 1]);
        }
        transpose(four, lane);
        const int f = f0 + 32 * n + lane % 4 * 8;  // K is a multiple of 8
        if (i < H && j < W && f < K) *(uint4*)(to + f) = make_uint4(four[0], four[1], four[2], four[3]);
      }
    }
  }
}

// At most 64 channels. Barriers: of nine taps; then kImages of full images and of empty ones.
__device__ __forceinline__ void convolve_in_turns(const CUtensorMap* x_map, const CUtensorMap* w_map, __nv_bfloat16* y,
                                                  unsigned memory, unsigned barriers, int warp, int B, int H, int W,
                                                  int K) {
  using Tile = Place<16, 8>;
  constexpr int kImageBytes = round_to_kilobytes(180 * 128), kImages = (kMemory - 9 * kTapBytes) / kImageBytes;
  static_assert(kImages >= 3 && kImages <= kMost, "buffers");
  const int parts = (K + 127) / 128, each = gridDim.x / parts;  // blocks for each 128 filters; the rest have no work
  const int f0 = blockIdx.x % parts * 128, first = blockIdx.x / parts, tiles = Tile::count(B, H, W);
  if (first >= each) return;
  const unsigned full = barriers + 8 * 9, empty = full + 8 * kImages, images = memory + 9 * kTapBytes;
  if (threadIdx.x == 0) {
    for (int t = 0; t < 9; ++t) mbarrier::init(barriers + 8 * t, 1);
    for (int s = 0; s < kImages; ++s) {
      mbarrier::init(full + 8 * s, 1);
      mbarrier::init(empty + 8 * s, 4);  // the warps of one group
    }
    mbarrier::fence_init();
  }
  __syncthreads();

  const int group = warp / 4;
  Ring<kImages> ring;
  if (group == 2) {
    warpgroup::keep_registers<40>();
    if (threadIdx.x != 256) return;
    for (int tile = first; tile < tiles; tile += each) {
      const Tile place(tile, H, W);
      const unsigned barrier = full + 8 * ring.stage;
      mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
      mbarrier::expect(barrier, 180 * 128);
      tma::load(images + ring.stage * kImageBytes, x_map, 0, place.j0 - 1, place.i0 - 1, place.b, barrier);
      ring.advance();
      if (tile != first) continue;
      for (int t = 0; t < 9; ++t) {
        mbarrier::expect(barriers + 8 * t, kTapBytes);
        tma::load(memory + t * kTapBytes, w_map, 0, t % 3, t / 3, f0, barriers + 8 * t);
      }
    }
    return;
  }

  warpgroup::take_registers<232>();
  const int lane = threadIdx.x % 32;
  bool fresh = true;
  if (group == 1) ring.advance();
  for (int tile = first + group * each; tile < tiles; tile += 2 * each) {
    const Tile place(tile, H, W);
    float sums[2][64];
    // Group g waits at named barrier 1 + g until the other has issued the products of the tile before.
    if (IN_TURNS && tile != first) warpgroup::sync<256>(1 + group);
    mbarrier::wait(full + 8 * ring.stage, ring.phase);
    wgmma::fence();
#pragma unroll
    for (int t = 0; t < 9; ++t) {
      if (fresh) {
        mbarrier::wait(barriers + 8 * t, 0);
        wgmma::fence();
      }
      const unsigned image = images + ring.stage * kImageBytes + (t / 3 * 10 + t % 3) * 128;
      const unsigned long long left = wgmma::descriptor(image, 16, 10 * 128);
      const unsigned long long right = wgmma::k_major_tile(memory + t * kTapBytes);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          multiply(sums[m], left + (m * 80 * 128 >> 4) + 2 * k, right + 2 * k, t + k > 0);
        }
      }
    }
    wgmma::commit();
    if (IN_TURNS && tile + each < tiles) warpgroup::arrive<256>(2 - group);
    fresh = false;
    wgmma::wait<0>();
    wgmma::settle(sums[0]);
    wgmma::settle(sums[1]);
    if (lane == 0) mbarrier::arrive(empty + 8 * ring.stage);
    ring.advance();
    ring.advance();  // past the other group's
    store(sums, y, place.b, place.i0, place.j0, f0, H, W, K);
  }
}

// More channels. Barriers: kImages of full images and of empty ones, kTaps of full taps and of empty ones.
__device__ __forceinline__ void convolve_together(const CUtensorMap* x_map, const CUtensorMap* w_map,
                                                  __nv_bfloat16* __restrict__ y, unsigned memory,
                                                  unsigned barriers, int warp, int B, int H, int W, int C, int K) {
  constexpr int kPitch = COLUMNS + 2, kRows = 210 / kPitch, kPixels = (kRows * kPitch - 2 + 15) / 16 * 16;
  constexpr int kBoxBytes = (kRows + 2) * kPitch * 128, kImages = 2;
  static_assert(kPixels == 208, "multiply");
  using Tile = Place<kRows, COLUMNS>;
  constexpr int kImageBytes = round_to_kilobytes(kBoxBytes), kOutBytes = kPixels * 128;
  constexpr int kLeft = (kMemory - kImages * kImageBytes - 2 * kOutBytes) / kTapBytes;
  constexpr int kTaps = kLeft < kMost ? kLeft : kMost;
  static_assert(kTaps >= 3, "buffers");
  const int parts = (K + 127) / 128, tiles = Tile::count(B, H, W) * parts, chunks = (C + 63) / 64;
  const unsigned image_full = barriers, image_empty = image_full + 8 * kImages;
  const unsigned tap_full = image_empty + 8 * kImages, tap_empty = tap_full + 8 * kTaps;
  const unsigned images = memory, taps = images + kImages * kImageBytes;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kImages; ++s) {
      mbarrier::init(image_full + 8 * s, 1);
      mbarrier::init(image_empty + 8 * s, 8);  // warps
    }
    for (int t = 0; t < kTaps; ++t) {
      mbarrier::init(tap_full + 8 * t, 1);
      mbarrier::init(tap_empty + 8 * t, 8);
    }
    mbarrier::fence_init();
  }
  __syncthreads();

  const int group = warp / 4;
  Ring<kImages> image;
  Ring<kTaps> tap;
  if (group == 2) {
    warpgroup::keep_registers<40>();
    if (threadIdx.x == 256) {  // fetches images
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const Tile place(tile / parts, H, W);
        for (int chunk = 0; chunk < chunks; ++chunk) {
          const unsigned barrier = image_full + 8 * image.stage;
          mbarrier::wait(image_empty + 8 * image.stage, image.phase ^ 1);
          mbarrier::expect(barrier, kBoxBytes);
          tma::load(images + image.stage * kImageBytes, x_map, chunk * 64, place.j0 - 1, place.i0 - 1, place.b,
                    barrier);
          image.advance();
        }
      }
    } else if (threadIdx.x == 288) {  // fetches taps
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        for (int step = 0; step < 9 * chunks; ++step) {
          const unsigned barrier = tap_full + 8 * tap.stage;
          mbarrier::wait(tap_empty + 8 * tap.stage, tap.phase ^ 1);
          mbarrier::expect(barrier, kTapBytes);
          tma::load(taps + tap.stage * kTapBytes, w_map, step / 9 * 64, step % 3, step % 9 / 3, tile % parts * 128,
                    barrier);
          tap.advance();
        }
      }
    }
    return;
  }

  warpgroup::take_registers<232>();
  const int lane = threadIdx.x % 32;
  const unsigned out = taps + kTaps * kTapBytes + group * kOutBytes;
  // Where this lane's row of stmatrix goes: pixel lane % 8 of group lane / 16; the warp has 16 filters, two chunks.
  const unsigned to = out + lane / 16 * 1024 + swizzled(lane % 8, warp % 4 * 2 + lane / 8 % 2);
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Tile place(tile / parts, H, W);
    float sums[kPixels / 2];
    int used_image = 0, used_tap = 0;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      mbarrier::wait(image_full + 8 * image.stage, image.phase);
#pragma unroll
      for (int t = 0; t < 9; ++t) {
        mbarrier::wait(tap_full + 8 * tap.stage, tap.phase);
        wgmma::fence();
        const unsigned long long left = wgmma::k_major_tile(taps + tap.stage * kTapBytes + group * 64 * 128);
        const unsigned long long right =
            wgmma::k_major_tile(images + image.stage * kImageBytes + (t / 3 * kPitch + t % 3) * 128);
#pragma unroll
        for (int k = 0; k < 4; ++k) multiply(sums, left + 2 * k, right + 2 * k, chunk + t + k > 0);
        wgmma::commit();
        wgmma::wait<1>();  // the products of the tap before are done
        if (chunk + t > 0 && lane == 0) {
          mbarrier::arrive(tap_empty + 8 * used_tap);
          if (t == 0) mbarrier::arrive(image_empty + 8 * used_image);
        }
        used_tap = tap.stage;
        tap.advance();
      }
      used_image = image.stage;
      image.advance();
    }
    wgmma::wait<0>();
    wgmma::settle(sums);
    if (lane == 0) {
      mbarrier::arrive(tap_empty + 8 * used_tap);
      mbarrier::arrive(image_empty + 8 * used_image);
    }
    warpgroup::sync<128>(1 + group);  // all have read the results of the tile before
#pragma unroll
    for (int j = 0; j < kPixels / 8; j += 2) {
      const auto pack = [&](int i) { return pack_bf16(sums[i], sums[i + 1]); };
      asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to + j * 1024),
                   "r"(pack(4 * j)), "r"(pack(4 * j + 2)), "r"(pack(4 * j + 4)), "r"(pack(4 * j + 6))
                   : "memory");
    }
    warpgroup::sync<128>(1 + group);
    const int f = tile % parts * 128 + group * 64 + lane % 8 * 8;  // K is a multiple of 8
    const size_t image0 = (size_t)place.b * H;
#pragma unroll
    for (int n = 0; n < kPixels / 16; ++n) {
      const int pixel = n * 16 + threadIdx.x % 128 / 8, row = pixel / kPitch, column = pixel % kPitch;
      const int i = place.i0 + row, j = place.j0 + column;
      if (row < kRows && column < COLUMNS && i < H && j < W && f < K) {
        *(uint4*)(y + ((image0 + i) * W + j) * K + f) = load_four(out + swizzled(pixel, lane % 8));
      }
    }
  }
}

// Without tensor maps: a thread makes one element at a time.
__device__ __forceinline__ void convolve_plainly(const __nv_bfloat16* __restrict__ x,
                                                 const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y,
                                                 int B, int H, int W, int C, int K) {
  const size_t count = (size_t)B * H * W * K;
  for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < count; e += (size_t)gridDim.x * blockDim.x) {
    const int f = e % K;
    const size_t pixel = e / K;
    const int j = pixel % W, i = pixel / W % H;
    float sum = 0;
    for (int tap = 0; tap < 9; ++tap) {
      const int down = tap / 3 - 1, right = tap % 3 - 1;
      if (i + down < 0 || i + down >= H || j + right < 0 || j + right >= W) continue;
      const __nv_bfloat16* from = x + (pixel + (long long)down * W + right) * C;
      const __nv_bfloat16* weights = w + ((size_t)f * 9 + tap) * C;
      for (int c = 0; c < C; ++c) sum += __bfloat162float(from[c]) * __bfloat162float(weights[c]);
    }
    y[e] = __float2bfloat16(sum);
  }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    conv2d(const __grid_constant__ CUtensorMap x_map, const __grid_constant__ CUtensorMap tall_map,
           const __grid_constant__ CUtensorMap w_map, const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y,
           int B, int H, int W, int C, int K, int mapped) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long all_barriers[4 * kMost];
  const unsigned memory = round_up(shared_address(raw), 1024), barriers = shared_address(all_barriers);
  if (mapped && threadIdx.x == 256) {
    tma::prefetch(C <= 64 ? &x_map : &tall_map);
    tma::prefetch(&w_map);
  }
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);  // the compiler learns that it is uniform
  if (!mapped) {
    convolve_plainly(x, w, y, B, H, W, C, K);
  } else if (C <= 64) {
    convolve_in_turns(&x_map, &w_map, y, memory, barriers, warp, B, H, W, K);
  } else {
    convolve_together(&tall_map, &w_map, y, memory, barriers, warp, B, H, W, C, K);
  }
}
