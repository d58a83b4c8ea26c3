/* kernelwright
{
  "problem": "conv2d_tf32",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent implicit GEMM, filters by 256 or 208 pixels, halo rounded once in shared memory",
  "tunables": {"SKEW": [1, 0], "CLUSTER": [1, 2], "WIDE_IMAGES": [4, 3], "BLOCKS": [132]},
  "workspace": {"rounded": {"bytes": "147456 * ceil_div(K, 128) * ceil_div(C, 32)"}},
  "tensor_maps": {
    "narrow_map": {"tensor": "x", "box": [32, 10, 34, 1], "swizzle": 128, "l2_promotion": 256, "when": "C % 4 == 0"},
    "wide_map": {"tensor": "x", "box": [32, 30, 9, 1], "swizzle": 128, "l2_promotion": 256, "when": "C % 4 == 0"}
  },
  "launches": [
    {"kernel": "prepare", "grid": [144, 1, 1], "block": [256, 1, 1], "args": ["w", "rounded", "C", "K"]},
    {"kernel": "conv2d", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1], "cluster": ["CLUSTER", 1, 1],
     "shared_bytes": 231424, "overlaps_previous": true,
     "args": ["narrow_map", "wide_map", "x", "w", "rounded", "y", "B", "H", "W", "C", "K",
              "ceil_div(H, 32) * ceil_div(W, 8) * 256 <= ceil_div(H, 7) * ceil_div(W, 28) * 208"]}
  ]
}
*/
// y[b, i, j, f] = sum_{r, s, c} x[b, i + r - 1, j + s - 1, c] w[f, r, s, c]; x: [B, H, W, C], w: [K, 3, 3, C],
// y: [B, H, W, K], all fp32.
//
// wgmma takes 64 filters as rows and the pixels of a tile as columns, both with contiguous channels, 32 at a time. TMA
// brings the pixels once for all nine taps, with a halo of one and zeros outside the image. Tap (r, s) begins r rows
// and s pixels later; the swizzle goes by the bits of the address, so an operand may begin at any pixel. Tiles are
//  - narrow: 32 rows of eight pixels; a group of eight columns of the product is a row, the next is ten pixels on.
//  - wide: the run of 208 pixels that holds seven rows of 28, with the halo's two between rows computed and dropped.
// The shape decides which multiplies less: none is lost at 128 x 128 in narrow tiles, 6 % at 28 x 28 in wide ones.
//
// wgmma cuts off the bits that TF32 lacks. Half a unit in the last place, added before, makes that a rounding to the
// nearest. The first launch does it for w, on the way to a copy that lies in the order of its use: 8 KiB for each tap,
// 32 channels and 64 filters, swizzled, zeros beyond C and K. Its rows are filters in such an order that a thread ends
// with pairs of neighbours. For x, one warp rounds what TMA brought, in place: once for nine taps and 128 filters. What
// comes first is rounded by the warpgroups that multiply, since they wait for it.
//
// BLOCKS blocks stay on the device and take tiles in turn. Two warpgroups multiply, each 64 of the filters, with a ring
// of taps of its own; pixels come through one ring, 32 channels at a time. The second begins 32 channels later (SKEW),
// so that one multiplies while the other stores. In a cluster of two, each block fetches half of a tap for both.
//
// Bound by the tensor cores. H200, 2026-11-28: 127.7 us at 16 x 128 x 128, 64 to 128 channels, 64 % of the bound; cuDNN
// with channels last 124. Where C is no multiple of four there is no tensor map, and a plain loop does the work.
#include <cuda.h>
#include <kw/cluster.cuh>
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int kTapBytes = 64 * 128;     // 64 filters, 32 channels
constexpr int kMemory = 231424 - 1024;  // bytes of shared memory, aligned
constexpr int kMost = 8;                // buffers of a ring
constexpr unsigned kHalf = 0x1000;      // of the last bit that TF32 keeps
__device__ constexpr int round_to_kilobytes(int bytes) { return (bytes + 1023) / 1024 * 1024; }

// A tile of kRows x kColumns pixels. Groups of eight columns of the product are kStride pixels of the box apart.
template <int rows, int columns, int stride, int pixels, int images>
struct Tile {
  static constexpr int kRows = rows, kColumns = columns, kStride = stride, kPixels = pixels, kImages = images;
  static constexpr int kPitch = columns + 2, kBoxBytes = (rows + 2) * kPitch * 128;
  static constexpr int kImageBytes = round_to_kilobytes(kBoxBytes);
  static constexpr int kLeft = (kMemory - images * kImageBytes) / (2 * kTapBytes),
                       kTaps = kLeft < kMost ? kLeft : kMost;
  static_assert(kTaps >= 3 && images <= kMost, "buffers");

  int b, i0, j0;  // where it begins; b may be B and more
  __device__ __forceinline__ Tile(int tile, int H, int W) {
    const int across = (W + kColumns - 1) / kColumns, down = (H + kRows - 1) / kRows;
    j0 = tile % across * kColumns;
    i0 = tile / across % down * kRows;
    b = tile / across / down;
  }
  static __device__ __forceinline__ int count(int B, int H, int W) {
    return B * ((W + kColumns - 1) / kColumns) * ((H + kRows - 1) / kRows);
  }
};
using Narrow = Tile<32, 8, 10, 256, 3>;
using Wide = Tile<7, 28, 8, 208, WIDE_IMAGES>;

// Copies w in steps of 64 filters, 32 channels, tap. Row 16 * v + 8 * h + g of a step is filter 16 * v + 2 * g + h.
extern "C" __global__ void __launch_bounds__(256)
    prepare(const unsigned* __restrict__ w, unsigned char* __restrict__ rounded, int C, int K) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  if (C % 4 != 0) return;
  const int chunks = (C + 31) / 32, count = (K + 127) / 128 * 2 * chunks * 9 * 512;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int piece = i % 8, row = i / 8 % 64, step = i / 512, tap = step % 9;
    const int f = step / 9 / chunks * 64 + row / 16 * 16 + row % 8 * 2 + row / 8 % 2;
    const int c = step / 9 % chunks * 32 + piece * 4;
    uint4 four = make_uint4(0, 0, 0, 0);
    if (f < K && c < C) four = *(const uint4*)(w + ((size_t)f * 9 + tap) * C + c);
    *(uint4*)(rounded + (size_t)step * kTapBytes + swizzled(row, piece)) =
        make_uint4(four.x + kHalf, four.y + kHalf, four.z + kHalf, four.w + kHalf);
  }
}

// As kw::wgmma::multiply, 64 x 208; both operands have contiguous k.
#define SUMS_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUMS(i) SUMS_4(i), SUMS_4(i + 4)
__device__ __forceinline__ void multiply(float (&d)[104], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %106, 0;\nwgmma.mma_async.sync.aligned.m64n208k8.f32.tf32.tf32 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63,"
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79,"
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95,"
      "%96, %97, %98, %99, %100, %101, %102, %103"
      "}, %104, %105, p, 1, 1;\n}"
      : SUMS(0), SUMS(8), SUMS(16), SUMS(24), SUMS(32), SUMS(40), SUMS(48), SUMS(56), SUMS(64), SUMS(72), SUMS(80),
        SUMS(88), SUMS(96)
      : "l"(a), "l"(b), "r"(add));
}
#undef SUMS
#undef SUMS_4
__device__ __forceinline__ void multiply(float (&d)[128], unsigned long long a, unsigned long long b, int add) {
  wgmma::multiply<wgmma::tf32>(d, a, b, add);
}

// Bytes to the same address of each block of the cluster.
__device__ __forceinline__ void load_for_all(unsigned to, const void* from, int bytes, unsigned barrier) {
  if constexpr (CLUSTER == 1) {
    tma::load_bytes(to, from, bytes, barrier);
  } else {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
        "%4;" ::"r"(to),
        "l"(from), "r"(bytes), "r"(barrier), "h"((unsigned short)((1 << CLUSTER) - 1))
        : "memory");
  }
}

__device__ __forceinline__ void store_four(unsigned to, uint4 four) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(four.x), "r"(four.y), "r"(four.z), "r"(four.w)
               : "memory");
}

// Rounds so many pieces of four elements in place, by so many threads, for wgmma.
template <int pieces, int threads>
__device__ __forceinline__ void round_image(unsigned image, int thread) {
  constexpr int kEach = 8;
#pragma unroll 1
  for (int piece = thread; piece < pieces; piece += threads * kEach) {
    uint4 four[kEach];
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      if (piece + threads * j < pieces) four[j] = load_four(image + 16 * (piece + threads * j));
    }
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const uint4 sum = make_uint4(four[j].x + kHalf, four[j].y + kHalf, four[j].z + kHalf, four[j].w + kHalf);
      if (piece + threads * j < pieces) store_four(image + 16 * (piece + threads * j), sum);
    }
  }
  tma::fence();
}

// A warpgroup's 64 filters of a tile.
template <typename T>
__device__ __forceinline__ void store(const float (&sums)[T::kPixels / 2], float* __restrict__ y, const T& tile, int f0,
                                      int B, int H, int W, int K) {
  int lane = threadIdx.x % 32;
  asm volatile("" : "+r"(lane));  // else the places of pixels, which all tiles share, stay in registers
  const int f = f0 + threadIdx.x % 128 / 32 * 16 + lane / 4 * 2;
  if (tile.b >= B || f >= K) return;
  float* const to = y + (((size_t)tile.b * H + tile.i0) * W + tile.j0) * K + f;
#pragma unroll
  for (int i = 0; i < T::kPixels / 4; ++i) {
    const int within = lane % 4 * 2 + i % 2;  // of the group of eight
    int row = i / 2, column = within;
    if (T::kStride != T::kPitch) {
      const int pixel = i / 2 * 8 + within;
      row = pixel / T::kPitch;
      column = pixel % T::kPitch;
      if (row >= T::kRows || column >= T::kColumns) continue;
    }
    if (tile.i0 + row >= H || tile.j0 + column >= W) continue;
    float* const pixel = to + (row * W + column) * K;
    const float low = sums[i / 2 * 4 + i % 2], high = sums[i / 2 * 4 + 2 + i % 2];
    if (K % 2 == 0) {
      __stcs((float2*)pixel, make_float2(low, high));
    } else {
      __stcs(pixel, low);
      if (f + 1 < K) __stcs(pixel + 1, high);
    }
  }
}

// Barriers: of images full, rounded and empty, kMost each; of each warpgroup's taps full and empty.
template <typename T>
__device__ __forceinline__ void convolve(const CUtensorMap* x_map, const unsigned char* rounded, float* __restrict__ y,
                                         unsigned memory, unsigned barriers, int warp, int B, int H, int W, int C,
                                         int K) {
  const unsigned image_full = barriers, image_rounded = barriers + 8 * kMost, image_empty = barriers + 16 * kMost;
  const unsigned all_taps_full = barriers + 24 * kMost, images = memory,
                 all_taps = images + T::kImages * T::kImageBytes;
  if (threadIdx.x == 0) {
    for (int s = 0; s < T::kImages; ++s) {
      mbarrier::init(image_full + 8 * s, 1);
      mbarrier::init(image_rounded + 8 * s, 1);
      mbarrier::init(image_empty + 8 * s, 8);  // warps
    }
    for (int g = 0; g < 2; ++g) {
      for (int s = 0; s < T::kTaps; ++s) {
        mbarrier::init(all_taps_full + 16 * kMost * g + 8 * s, 1);
        mbarrier::init(all_taps_full + 16 * kMost * g + 8 * (kMost + s), 4 * CLUSTER);
      }
    }
    mbarrier::fence_init();
  }
  cluster::sync<CLUSTER>();

  const int parts = (K + 127) / 128, chunks = (C + 31) / 32, rank = blockIdx.x % CLUSTER, lane = threadIdx.x % 32;
  const int first = blockIdx.x / CLUSTER, apart = gridDim.x / CLUSTER;
  const int count = (T::count(B, H, W) + CLUSTER - 1) / CLUSTER * parts;  // tiles of a cluster times parts of filters
  const auto place = [&](int i) { return T(i / parts * CLUSTER + rank, H, W); };
  const int group = warp / 4;
  if (group == 2) {
    warpgroup::keep_registers<88>();
    if (warp == 8 && lane == 0) {  // fetches images
      Ring<T::kImages> image;
      for (int i = first; i < count; i += apart) {
        const T tile = place(i);
        for (int chunk = 0; chunk < chunks; ++chunk, image.advance()) {
          const unsigned barrier = image_full + 8 * image.stage;
          mbarrier::wait(image_empty + 8 * image.stage, image.phase ^ 1);
          mbarrier::expect(barrier, T::kBoxBytes);
          tma::load(images + image.stage * T::kImageBytes, x_map, chunk * 32, tile.j0 - 1, tile.i0 - 1, tile.b,
                    barrier);
        }
      }
    } else if ((warp == 9 || warp == 10) && lane == 0) {  // fetches the taps of a warpgroup
      const int of = warp - 9;
      const unsigned full = all_taps_full + 16 * kMost * of, taps = all_taps + of * T::kTaps * kTapBytes;
      Ring<T::kTaps> tap;
      asm volatile("griddepcontrol.wait;" ::: "memory");
      for (int i = first; i < count; i += apart) {
        if (i % parts * 128 + of * 64 >= K) continue;
        const unsigned char* from = rounded + (size_t)(i % parts * 2 + of) * chunks * 9 * kTapBytes;
        for (int step = 0; step < 9 * chunks; ++step, from += kTapBytes, tap.advance()) {
          constexpr int kBytes = kTapBytes / CLUSTER;
          mbarrier::wait(full + 8 * (kMost + tap.stage), tap.phase ^ 1);
          mbarrier::expect(full + 8 * tap.stage, kTapBytes);
          load_for_all(taps + tap.stage * kTapBytes + rank * kBytes, from + rank * kBytes, kBytes,
                       full + 8 * tap.stage);
        }
      }
    } else if (warp == 11) {  // rounds images, all but the first
      Ring<T::kImages> image;
      for (int i = first; i < count; i += apart) {
        for (int chunk = 0; chunk < chunks; ++chunk, image.advance()) {
          mbarrier::wait(image_full + 8 * image.stage, image.phase);
          if (i != first || chunk > 0) round_image<T::kBoxBytes / 16, 32>(images + image.stage * T::kImageBytes, lane);
          __syncwarp();
          if (lane == 0) mbarrier::arrive(image_rounded + 8 * image.stage);
        }
      }
    }
  } else {
    warpgroup::take_registers<208>();
    const unsigned full = all_taps_full + 16 * kMost * group, empty = full + 8 * kMost;
    const unsigned taps = all_taps + group * T::kTaps * kTapBytes;
    Ring<T::kImages> image;
    Ring<T::kTaps> tap;
    if (first < count) {
      mbarrier::wait(image_full, 0);
      round_image<T::kBoxBytes / 16, 256>(images, threadIdx.x);
      warpgroup::sync<256>(1);
    }
    for (int i = first; i < count; i += apart) {
      const T tile = place(i);
      const int f0 = i % parts * 128 + group * 64;
      if (SKEW && i == first && group == 1) warpgroup::sync<256>(2);
      if (f0 >= K) {  // no filters for this one
        for (int chunk = 0; chunk < chunks; ++chunk, image.advance()) {
          mbarrier::wait(image_rounded + 8 * image.stage, image.phase);
          if (lane == 0) mbarrier::arrive(image_empty + 8 * image.stage);
        }
        continue;
      }
      float sums[T::kPixels / 2];
      int used_image = 0, used_tap = 0;
      for (int chunk = 0; chunk < chunks; ++chunk) {
        mbarrier::wait(image_rounded + 8 * image.stage, image.phase);
#pragma unroll
        for (int t = 0; t < 9; ++t) {
          mbarrier::wait(full + 8 * tap.stage, tap.phase);
          wgmma::fence();
          const unsigned long long left = wgmma::k_major_tile(taps + tap.stage * kTapBytes);
          const unsigned long long right = wgmma::descriptor(
              images + image.stage * T::kImageBytes + (t / 3 * T::kPitch + t % 3) * 128, 16, T::kStride * 128);
#pragma unroll
          for (int k = 0; k < 4; ++k) multiply(sums, left + 2 * k, right + 2 * k, chunk + t + k > 0);
          wgmma::commit();
          wgmma::wait<1>();  // the products of the tap before are done
          if (chunk + t > 0) {
            if (lane < CLUSTER) mbarrier::arrive_at<CLUSTER>(empty + 8 * used_tap, lane);
            if (t == 0 && lane == 0) mbarrier::arrive(image_empty + 8 * used_image);
          }
          used_tap = tap.stage;
          tap.advance();
        }
        used_image = image.stage;
        image.advance();
        if (SKEW && i == first && chunk == 0 && group == 0) warpgroup::arrive<256>(2);
      }
      wgmma::wait<0>();
      wgmma::settle(sums);
      if (lane < CLUSTER) mbarrier::arrive_at<CLUSTER>(empty + 8 * used_tap, lane);
      if (lane == 0) mbarrier::arrive(image_empty + 8 * used_image);
      store<T>(sums, y, tile, f0, B, H, W, K);
    }
  }
  __syncwarp();
  cluster::sync<CLUSTER>();  // no block leaves while another may arrive at its barriers
}

// Without tensor maps: a thread makes one element at a time, products in fp32.
__device__ __forceinline__ void convolve_plainly(const float* __restrict__ x, const float* __restrict__ w,
                                                 float* __restrict__ y, int B, int H, int W, int C, int K) {
  const size_t count = (size_t)B * H * W * K;
  for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < count; e += (size_t)gridDim.x * blockDim.x) {
    const int f = e % K;
    const size_t pixel = e / K;
    const int j = pixel % W, i = pixel / W % H;
    float sum = 0;
    for (int tap = 0; tap < 9; ++tap) {
      const int down = tap / 3 - 1, right = tap % 3 - 1;
      if (i + down < 0 || i + down >= H || j + right < 0 || j + right >= W) continue;
      const float* from = x + (pixel + (long long)down * W + right) * C;
      const float* weights = w + ((size_t)f * 9 + tap) * C;
      for (int c = 0; c < C; ++c) sum += from[c] * weights[c];
    }
    y[e] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    conv2d(const __grid_constant__ CUtensorMap narrow_map, const __grid_constant__ CUtensorMap wide_map, const float* x,
           const float* w, const unsigned char* rounded, float* y, int B, int H, int W, int C, int K, int narrow) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long all_barriers[7 * kMost];
  const unsigned memory = round_up(shared_address(raw), 1024), barriers = shared_address(all_barriers);
  if (C % 4 == 0 && threadIdx.x == 256) tma::prefetch(narrow ? &narrow_map : &wide_map);
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);  // the compiler learns that it is uniform
  if (C % 4 != 0) {
    convolve_plainly(x, w, y, B, H, W, C, K);
  } else if (narrow) {
    convolve<Narrow>(&narrow_map, rounded, y, memory, barriers, warp, B, H, W, C, K);
  } else {
    convolve<Wide>(&wide_map, rounded, y, memory, barriers, warp, B, H, W, C, K);
  }
}
