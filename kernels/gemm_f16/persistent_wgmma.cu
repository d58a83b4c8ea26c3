/* kernelwright
{
  "problem": "gemm_f16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent TMA and wgmma, 256 x 128 tiles, or 64 x 128 tiles whose depth two warpgroups split",
  "tunables": {"STAGES": [4, 3], "BAND": [8, 4, 16], "FEW": [100, 132, 66]},
  "tensor_maps": {
    "a_map": {"tensor": "a", "box": [64, 64], "swizzle": 128, "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "b_map": {"tensor": "b", "box": [64, 64], "swizzle": 128, "when": "(K % 8 == 0) * (N % 8 == 0)"}
  },
  "launches": [
    {"kernel": "gemm", "grid": [132, 1, 1], "block": [384, 1, 1], "shared_bytes": "STAGES * 49152 + 33792",
     "args": ["a_map", "b_map", "a", "b", "c", "M", "N", "K", "(K % 8 == 0) * (N % 8 == 0)"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// 132 blocks stay on the device. A warpgroup produces: it fetches tiles of a and b by TMA, STAGES ahead. Two consume
// them with wgmma, 128 x 128 of c each; where there are fewer than FEW tiles, they split the depth of a 64 x 128
// tile. A model's reply, as it came. On one H200 on 2026-11-22: 186.0 us at 4096, 0.97x of cuBLAS.
#include <cuda.h>
#include <cuda_fp16.h>
#include <mma.h>

constexpr int kDepth = 64, kBox = 64 * 64 * 2, kColumns = 128;

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void wait(unsigned barrier, int parity) {
  asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again;\n}" ::"r"(barrier), "r"(parity) : "memory");
}
__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void copy_box(unsigned to, const CUtensorMap* map, int x, int y, unsigned barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                   "r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier) : "memory");
}
// Of an operand that is swizzled by 128 bytes.
__device__ __forceinline__ unsigned long long descriptor(unsigned address, int leading_bytes, int stride_bytes) {
  return (unsigned long long)((address & 0x3FFFF) >> 4) | (unsigned long long)(leading_bytes >> 4) << 16 |
         (unsigned long long)(stride_bytes >> 4) << 32 | 1ull << 62;
}
#define EIGHT(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
// d (64 x 128) = [d +] a (64 x 16) times b (16 x 128).
__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
      "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, "
      "%35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, "
      "%57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 1;\n}"
      : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56)
      : "l"(a), "l"(b), "r"(add));
}
__device__ __forceinline__ void settle(float (&d)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
__device__ __forceinline__ void meet() { asm volatile("bar.sync 1, 256;" ::: "memory"); }  // the two warpgroups

// Four lanes hold pairs of columns of four blocks of eight columns; afterwards each holds one block.
__device__ __forceinline__ void transpose(unsigned (&w)[4], int lane) {
  const bool odd = lane % 2, high = lane / 2 % 2;
#pragma unroll
  for (int j = 0; j < 4; j += 2) {
    const unsigned got = __shfl_xor_sync(0xffffffffu, odd ? w[j] : w[j + 1], 1);
    w[j] = odd ? got : w[j];
    w[j + 1] = odd ? w[j + 1] : got;
  }
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const unsigned got = __shfl_xor_sync(0xffffffffu, high ? w[j] : w[j + 2], 2);
    w[j] = high ? got : w[j];
    w[j + 2] = high ? w[j + 2] : got;
  }
}
// 64 x 128 results of a warpgroup; m is the thread's first row.
__device__ __forceinline__ void store(const float (&sums)[64], __half* c, int m, int n0, int lane, int M, int N) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      unsigned w[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const __half2 two = __floats2half2_rn(sums[16 * j + 4 * i + 2 * r], sums[16 * j + 4 * i + 2 * r + 1]);
        w[i] = *(const unsigned*)&two;
      }
      transpose(w, lane);
      const int n = n0 + 32 * j + lane % 4 * 8;  // N is a multiple of 8
      if (m + 8 * r < M && n < N) *(uint4*)(c + (size_t)(m + 8 * r) * N + n) = make_uint4(w[0], w[1], w[2], w[3]);
    }
  }
}

// BOXES: 64 rows of a each. With four, a warpgroup owns two of them; with one, both work on it, each on half of the
// depth.
template <int BOXES, int DEEP>
__device__ __forceinline__ void multiply_tiles(const CUtensorMap* a_map, const CUtensorMap* b_map, __half* c,
                                               unsigned memory, float* exchange, unsigned full, unsigned empty, int M,
                                               int N, int K) {
  constexpr int kBytes = (BOXES + 2) * kBox, kRows = 64 * BOXES, kEach = BOXES == 1 ? 1 : BOXES / 2;
  constexpr int kPieces = BOXES == 1 ? kDepth / 32 : kDepth / 16;  // of the depth, of one warpgroup
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
  const int steps = (K + kDepth - 1) / kDepth, down = (M + kRows - 1) / kRows, across = (N + kColumns - 1) / kColumns;
  if (threadIdx.x == 0) {
    for (int s = 0; s < DEEP; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * s) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" ::"r"(empty + 8 * s) : "memory");  // warps
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x > 256) return;

  int stage = 0, phase = 0;
  const auto advance = [&] {
    if (++stage == DEEP) {
      stage = 0;
      phase ^= 1;
    }
  };
  float sums[kEach][64] = {};
  for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
    const int band = tile / (BAND * across), within = tile % (BAND * across);
    const int rows = down - band * BAND < BAND ? down - band * BAND : BAND;
    const int m0 = (band * BAND + within % rows) * kRows, n0 = within / rows * kColumns;
    if (group == 2) {  // the producer
      for (int step = 0; step < steps; ++step) {
        const unsigned barrier = full + 8 * stage, to = memory + stage * kBytes;
        wait(empty + 8 * stage, phase ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(kBytes) : "memory");
#pragma unroll
        for (int i = 0; i < BOXES; ++i) copy_box(to + i * kBox, a_map, step * kDepth, m0 + 64 * i, barrier);
#pragma unroll
        for (int i = 0; i < 2; ++i) copy_box(to + (BOXES + i) * kBox, b_map, n0 + 64 * i, step * kDepth, barrier);
        advance();
      }
      continue;
    }

    const int first_box = BOXES == 1 ? 0 : group * kEach, first_piece = BOXES == 1 ? group * kPieces : 0;
    int used = 0;
    for (int step = 0; step < steps; ++step) {
      wait(full + 8 * stage, phase);
      const unsigned from = memory + stage * kBytes;
      const unsigned long long left = descriptor(from + first_box * kBox, 16, 1024) + first_piece * (32 >> 4);
      const unsigned long long right = descriptor(from + BOXES * kBox, kBox, 1024) + first_piece * (2048 >> 4);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int k = 0; k < kPieces; ++k) {
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
          multiply(sums[i], left + i * (kBox >> 4) + k * (32 >> 4), right + k * (2048 >> 4), step + k > 0);
        }
      }
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");  // the products of the step before are done
      if (step > 0 && lane == 0) arrive(empty + 8 * used);
      used = stage;
      advance();
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < kEach; ++i) settle(sums[i]);
    if (lane == 0) arrive(empty + 8 * used);

    const int m = m0 + threadIdx.x % 128 / 32 * 16 + lane / 4;
    if (BOXES == 1) {
      const int t = threadIdx.x % 128;
      meet();  // the exchange of the tile before is over
      if (group == 1) {
#pragma unroll
        for (int i = 0; i < 64; ++i) exchange[i * 128 + t] = sums[0][i];
      }
      meet();
      if (group == 0) {
#pragma unroll
        for (int i = 0; i < 64; ++i) sums[0][i] += exchange[i * 128 + t];
        store(sums[0], c, m, n0, lane, M, N);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kEach; ++i) store(sums[i], c, m + 64 * (first_box + i), n0, lane, M, N);
    }
  }
}

// Shapes without tensor maps: 128 x 128 tiles through wmma, eight warps of 64 x 32.
__device__ __forceinline__ void multiply_plainly(unsigned char* memory, const __half* a, const __half* b, __half* c, int M,
                                                 int N, int K) {
  using namespace nvcuda;
  __half* left = (__half*)memory;           // 128 x 40
  __half* right = left + 128 * 40;          // 32 x 136
  float* out = (float*)(right + 32 * 136);  // 16 x 16 of each warp
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, row = warp / 4 * 64, column = warp % 4 * 32;
  const int across = (N + 127) / 128, count = across * ((M + 127) / 128);
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const int m0 = tile / across * 128, n0 = tile % across * 128;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
#pragma unroll
    for (int i = 0; i < 8; ++i) wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
    for (int k0 = 0; k0 < K; k0 += 32) {
      __syncthreads();
      for (int e = t; e < 128 * 32; e += 384) {
        const int m = m0 + e / 32, k = k0 + e % 32;
        left[e / 32 * 40 + e % 32] = m < M && k < K ? a[(size_t)m * K + k] : __float2half(0.0f);
        const int l = k0 + e / 128, n = n0 + e % 128;
        right[e / 128 * 136 + e % 128] = l < K && n < N ? b[(size_t)l * N + n] : __float2half(0.0f);
      }
      __syncthreads();
      if (warp >= 8) continue;
#pragma unroll
      for (int k = 0; k < 32; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> l[4];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> r[2];
#pragma unroll
        for (int i = 0; i < 4; ++i) wmma::load_matrix_sync(l[i], left + (row + 16 * i) * 40 + k, 40);
#pragma unroll
        for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(r[i], right + k * 136 + column + 16 * i, 136);
#pragma unroll
        for (int i = 0; i < 8; ++i) wmma::mma_sync(sums[i / 2][i % 2], l[i / 2], r[i % 2], sums[i / 2][i % 2]);
      }
    }
    if (warp >= 8) continue;
    float* mine = out + warp * 256;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      wmma::store_matrix_sync(mine, sums[i / 2][i % 2], 16, wmma::mem_row_major);
      __syncwarp();
      for (int e = lane; e < 256; e += 32) {
        const int m = m0 + row + i / 2 * 16 + e / 16, n = n0 + column + i % 2 * 16 + e % 16;
        if (m < M && n < N) c[(size_t)m * N + n] = __float2half(mine[e]);
      }
      __syncwarp();
    }
  }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const __half* a,
         const __half* b, __half* c, int M, int N, int K, int mapped) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[4 * STAGES];
  const unsigned start = shared_address(raw), memory = (start + 1023) / 1024 * 1024;  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers), empty = full + 8 * 2 * STAGES;
  unsigned char* aligned = raw + (memory - start);
  if (!mapped) {
    multiply_plainly(aligned, a, b, c, M, N, K);
  } else if ((M + 255) / 256 * ((N + 127) / 128) >= FEW) {
    multiply_tiles<4, STAGES>(&a_map, &b_map, c, memory, (float*)aligned, full, empty, M, N, K);
  } else {
    float* exchange = (float*)(aligned + 2 * STAGES * 3 * kBox);  // behind the buffers
    multiply_tiles<1, 2 * STAGES>(&a_map, &b_map, c, memory, exchange, full, empty, M, N, K);
  }
}
