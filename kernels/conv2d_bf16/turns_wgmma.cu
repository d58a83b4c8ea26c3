/* kernelwright
{
  "problem": "conv2d_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent implicit GEMM, TMA and wgmma; up to 64 channels, filters stay and warpgroups take turns",
  "tunables": {"WIDE": [8, 16], "IN_TURNS": [1, 0], "BLOCKS": [132]},
  "tensor_maps": {
    "x_map": {"tensor": "x", "box": [64, "WIDE", "128 / WIDE + 2", 1], "swizzle": 128,
              "when": "(C % 8 == 0) * (K % 8 == 0) * (C <= 64)"},
    "tall_map": {"tensor": "x", "box": [64, "WIDE", "256 / WIDE + 2", 1], "swizzle": 128,
                 "when": "(C % 8 == 0) * (K % 8 == 0) * (C > 64)"},
    "w_map": {"tensor": "w", "box": [64, 1, 1, 128], "swizzle": 128, "when": "(C % 8 == 0) * (K % 8 == 0)"}
  },
  "launches": [
    {"kernel": "conv2d", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1],
     "shared_bytes": "9 * 16384 + 512 * (128 + 2 * WIDE) + 1024",
     "args": ["x_map", "tall_map", "w_map", "x", "w", "y", "B", "H", "W", "C", "K", "(C % 8 == 0) * (K % 8 == 0)"]}
  ]
}
*/
// y[b, i, j, f] = sum_{r, s, c} x[b, i + r - 1, j + s - 1, c] w[f, r, s, c]; x: [B, H, W, C], w: [K, 3, 3, C],
// y: [B, H, W, K].
//
// Tiles are rectangles of pixels, WIDE across, by 128 filters. A step is one shift s and 64 channels: TMA fetches two
// rows more than the tile has, shifted by s - 1 columns, with zeros outside the image. A pixel is 128 bytes of shared
// memory and a row of pixels a multiple of the swizzle's 1024, so the left operand of tap r begins r rows later in the
// same copy: the image comes three times instead of nine.
//
// Up to 64 channels, all nine taps of 128 filters stay in shared memory. Each of two warpgroups has tiles of 128
// pixels, buffers and a producing thread of its own. With IN_TURNS one multiplies while the other writes its results.
//
// With more channels, the warpgroups share tiles of 256 pixels. Taps come one by one through nine buffers, so that a
// buffer is free again after one tap and the next ones are there before the image of their step.
//
// Shapes that tensor maps cannot describe take a plain loop.
//
// Measured on one H100 on 2026-11-25, cold caches, median: 59.1 us at 16x128x128x64_128, 71 % of the bound, with
// BLOCKS=132 IN_TURNS=1 WIDE=16.
#include <cuda.h>
#include <cuda_bf16.h>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int kTaps = 9, kTapBytes = 128 * 128;  // 128 filters, 64 channels
constexpr int kRowBytes = WIDE * 128;            // a row of pixels, 64 channels
constexpr int kImages = 2;                       // buffers of a ring

// Where a tile of kTall rows begins.
template <int kTall>
struct Place {
  int b, i0, j0;
  __device__ __forceinline__ Place(int tile, int H, int W) {
    const int across = (W + WIDE - 1) / WIDE, down = (H + kTall - 1) / kTall;
    j0 = tile % across * WIDE;
    i0 = tile / across % down * kTall;
    b = tile / across / down;
  }
  static __device__ __forceinline__ int count(int B, int H, int W) {
    return B * ((W + WIDE - 1) / WIDE) * ((H + kTall - 1) / kTall);
  }
};

// One tap of 128 pixels of a warpgroup, 64 channels.
__device__ __forceinline__ void multiply_tap(float (&sums)[2][64], unsigned image, unsigned tap, bool first) {
  const unsigned long long left = wgmma::k_major_tile(image), right = wgmma::k_major_tile(tap);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      wgmma::multiply<wgmma::bf16>(sums[m], left + (m * 64 * 128 >> 4) + 2 * k, right + 2 * k, !first || k > 0);
    }
  }
}

// pixel0: the warpgroup's first pixel of the tile.
__device__ __forceinline__ void store(const float (&sums)[2][64], __nv_bfloat16* y, int b, int i0, int j0, int pixel0,
                                      int f0, int H, int W, int K) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int m = 0; m < 2; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int pixel = pixel0 + m * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4 + 8 * h;
      const int i = i0 + pixel / WIDE, j = j0 + pixel % WIDE;
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

// At most 64 channels. Barriers: 0: the filters; then, of each warpgroup, kImages of full buffers and of empty ones.
__device__ __forceinline__ void convolve_in_turns(const CUtensorMap* x_map, const CUtensorMap* w_map, __nv_bfloat16* y,
                                                  unsigned memory, unsigned barriers, int B, int H, int W, int K) {
  using Tile = Place<128 / WIDE>;
  constexpr int kImageBytes = (128 / WIDE + 2) * kRowBytes;
  const int parts = (K + 127) / 128, each = gridDim.x / parts;  // blocks for each 128 filters; the rest have no work
  const int f0 = blockIdx.x % parts * 128, first = blockIdx.x / parts, tiles = Tile::count(B, H, W);
  const int producer = (int)threadIdx.x - 256, group = producer < 0 ? threadIdx.x / 128 : producer / 32;
  if (first >= each) return;
  if (threadIdx.x == 0) {
    mbarrier::init(barriers, 1);
    for (int g = 0; g < 2; ++g) {
      for (int s = 0; s < kImages; ++s) {
        mbarrier::init(barriers + 8 * (1 + 2 * g * kImages + s), 1);
        mbarrier::init(barriers + 8 * (1 + (2 * g + 1) * kImages + s), 4);  // warps
      }
    }
    mbarrier::fence_init();
  }
  __syncthreads();

  const unsigned full = barriers + 8 * (1 + 2 * group * kImages), empty = full + 8 * kImages;
  const unsigned images = memory + kTaps * kTapBytes + group * kImages * kImageBytes;
  Ring<kImages> ring;
  if (producer >= 0) {
    warpgroup::keep_registers<24>();
    if (producer == 0) {
      mbarrier::expect(barriers, kTaps * kTapBytes);
      for (int t = 0; t < kTaps; ++t) tma::load(memory + t * kTapBytes, w_map, 0, t / 3, t % 3, f0, barriers);
    }
    if (producer != 0 && producer != 32) return;
    for (int tile = 2 * first + group; tile < tiles; tile += 2 * each) {
      const Tile place(tile, H, W);
      for (int s = 0; s < 3; ++s) {
        const unsigned barrier = full + 8 * ring.stage;
        mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
        mbarrier::expect(barrier, kImageBytes);
        tma::load(images + ring.stage * kImageBytes, x_map, 0, place.j0 + s - 1, place.i0 - 1, place.b, barrier);
        ring.advance();
      }
    }
    return;
  }

  warpgroup::take_registers<240>();
  const int lane = threadIdx.x % 32;
  mbarrier::wait(barriers, 0);
  for (int tile = 2 * first + group; tile < tiles; tile += 2 * each) {
    const Tile place(tile, H, W);
    float sums[2][64];
    // Group g waits at named barrier 1 + g until the other has issued its products.
    if (IN_TURNS && (group == 1 || tile >= 2 * each)) warpgroup::sync<256>(1 + group);
    int used = 0;
#pragma unroll
    for (int s = 0; s < 3; ++s) {
      mbarrier::wait(full + 8 * ring.stage, ring.phase);
      wgmma::fence();
#pragma unroll
      for (int r = 0; r < 3; ++r) {
        multiply_tap(sums, images + ring.stage * kImageBytes + r * kRowBytes, memory + (3 * s + r) * kTapBytes,
                     s + r == 0);
      }
      wgmma::commit();
      if (IN_TURNS && s == 2 && (group == 0 ? tile + 1 : tile - 1 + 2 * each) < tiles) {
        warpgroup::arrive<256>(2 - group);
      }
      wgmma::wait<1>();  // the products of the step before are done
      if (s > 0 && lane == 0) mbarrier::arrive(empty + 8 * used);
      used = ring.stage;
      ring.advance();
    }
    wgmma::wait<0>();
    wgmma::settle(sums[0]);
    wgmma::settle(sums[1]);
    if (lane == 0) mbarrier::arrive(empty + 8 * used);
    store(sums, y, place.b, place.i0, place.j0, 0, f0, H, W, K);
  }
}

// More channels. Barriers: kImages of full images and of empty ones, kTaps of full taps and of empty ones.
__device__ __forceinline__ void convolve_together(const CUtensorMap* x_map, const CUtensorMap* w_map, __nv_bfloat16* y,
                                                  unsigned memory, unsigned barriers, int B, int H, int W, int C,
                                                  int K) {
  using Tile = Place<256 / WIDE>;
  constexpr int kImageBytes = (256 / WIDE + 2) * kRowBytes;
  const int parts = (K + 127) / 128, tiles = Tile::count(B, H, W) * parts, steps = 3 * ((C + 63) / 64);
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
  const unsigned image_full = barriers, image_empty = image_full + 8 * kImages;
  const unsigned tap_full = image_empty + 8 * kImages, tap_empty = tap_full + 8 * kTaps;
  const unsigned images = memory + kTaps * kTapBytes;
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

  Ring<kImages> image;
  Ring<kTaps> tap;
  if (group == 2) {
    warpgroup::keep_registers<24>();
    if (threadIdx.x == 256) {  // fetches images
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const Tile place(tile / parts, H, W);
        for (int step = 0; step < steps; ++step) {
          const unsigned barrier = image_full + 8 * image.stage;
          mbarrier::wait(image_empty + 8 * image.stage, image.phase ^ 1);
          mbarrier::expect(barrier, kImageBytes);
          tma::load(images + image.stage * kImageBytes, x_map, step / 3 * 64, place.j0 + step % 3 - 1, place.i0 - 1,
                    place.b, barrier);
          image.advance();
        }
      }
    } else if (threadIdx.x == 288) {  // fetches taps
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        for (int step = 0; step < steps; ++step) {
          for (int r = 0; r < 3; ++r) {
            const unsigned barrier = tap_full + 8 * tap.stage;
            mbarrier::wait(tap_empty + 8 * tap.stage, tap.phase ^ 1);
            mbarrier::expect(barrier, kTapBytes);
            tma::load(memory + tap.stage * kTapBytes, w_map, step / 3 * 64, step % 3, r, tile % parts * 128, barrier);
            tap.advance();
          }
        }
      }
    }
    return;
  }

  warpgroup::take_registers<240>();
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Tile place(tile / parts, H, W);
    float sums[2][64];
    int used_image = 0, used_tap = 0;
    for (int step = 0; step < steps; ++step) {
      mbarrier::wait(image_full + 8 * image.stage, image.phase);
      const unsigned from = images + image.stage * kImageBytes + group * 128 * 128;
#pragma unroll
      for (int r = 0; r < 3; ++r) {
        mbarrier::wait(tap_full + 8 * tap.stage, tap.phase);
        wgmma::fence();
        multiply_tap(sums, from + r * kRowBytes, memory + tap.stage * kTapBytes, step + r == 0);
        wgmma::commit();
        wgmma::wait<1>();  // the products of the tap before are done
        if (step + r > 0 && lane == 0) {
          mbarrier::arrive(tap_empty + 8 * used_tap);
          if (r == 0) mbarrier::arrive(image_empty + 8 * used_image);
        }
        used_tap = tap.stage;
        tap.advance();
      }
      used_image = image.stage;
      image.advance();
    }
    wgmma::wait<0>();
    wgmma::settle(sums[0]);
    wgmma::settle(sums[1]);
    if (lane == 0) {
      mbarrier::arrive(tap_empty + 8 * used_tap);
      mbarrier::arrive(image_empty + 8 * used_image);
    }
    store(sums, y, place.b, place.i0, place.j0, group * 128, tile % parts * 128, H, W, K);
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
  __shared__ __align__(8) unsigned long long all_barriers[2 * kImages + 2 * kTaps];
  const unsigned memory = round_up(shared_address(raw), 1024), barriers = shared_address(all_barriers);
  if (!mapped) {
    convolve_plainly(x, w, y, B, H, W, C, K);
  } else if (C <= 64) {
    convolve_in_turns(&x_map, &w_map, y, memory, barriers, B, H, W, K);
  } else {
    convolve_together(&tall_map, &w_map, y, memory, barriers, B, H, W, C, K);
  }
}
