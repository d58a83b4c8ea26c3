/* kernelwright
{
  "problem": "linear_gelu_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent TMA and wgmma, 128 x 256 tiles, bias and gelu in registers, results leave by TMA",
  "tunables": {"STAGES": [4, 3], "CLUSTER": [1, 2], "BAND": [8, 16, 32], "BLOCKS": [128, 132]},
  "tensor_maps": {
    "x_map": {"tensor": "x", "box": [64, 128], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "w_map": {"tensor": "w", "box": [64, "256 / CLUSTER"], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "y_map": {"tensor": "y", "box": [64, 64], "swizzle": 128, "when": "(K % 8 == 0) * (N % 8 == 0)"}
  },
  "launches": [
    {"kernel": "gemm", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1], "cluster": ["CLUSTER", 1, 1],
     "shared_bytes": "STAGES * 49152 + 33792",
     "args": ["x_map", "w_map", "y_map", "x", "w", "b", "y", "M", "N", "K",
              "(K % 8 == 0) * (N % 8 == 0)"]}
  ]
}
*/
// y[m, n] = gelu(sum_k x[m, k] * w[n, k] + b[n]) with the tanh form of gelu; x: [M, K], w: [N, K], b: [N], y: [M, N].
//
// BLOCKS blocks stay on the device and take 128 x 256 tiles of y in turn, in bands of BAND tiles along m, so that those
// in work at a time share rows of x and w in L2. One thread fetches tiles of x and w by TMA, STAGES steps of 64 along k
// ahead, also into the next tile of y. Two warpgroups multiply them with wgmma, 64 x 256 of y each, and add the bias
// and apply gelu to the sums in registers; one does so while the other still multiplies or has begun its next tile.
// Results pass through 16 KiB of shared memory a warpgroup (stmatrix), and TMA writes them while the next tile is
// multiplied. In a cluster of two, the blocks own neighbours along m, and each fetches half of w for both. Shapes whose
// rows are not aligned to 16 bytes have no tensor maps and take fp32 arithmetic.
//
// Measured on one H200 on 2026-11-25, cold caches, median: 185.6 us at 4096x4096x4096, 82 % of the bound, with BAND=8
// BLOCKS=128 CLUSTER=1 STAGES=4.
#include <cuda.h>
#include <cuda_bf16.h>

constexpr int kRows = 128, kColumns = 256, kDepth = 64;  // of a tile of y; of a step along k
constexpr int kBox = 64 * 128, kBytesA = kRows * 128, kBytes = kBytesA + kColumns * 128;
constexpr int kBand = BAND / CLUSTER;

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void wait(unsigned barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
// At the same barrier of a block of the cluster.
__device__ __forceinline__ void arrive(unsigned barrier, int block) {
  if constexpr (CLUSTER == 1) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
  } else {
    asm volatile(
        "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
        "r"(block)
        : "memory");
  }
}
__device__ __forceinline__ void expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void load_box(unsigned to, const CUtensorMap* map, int x, int y, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
// To every block of the cluster.
__device__ __forceinline__ void load_shared_box(unsigned to, const CUtensorMap* map, int x, int y, unsigned barrier) {
  if constexpr (CLUSTER == 1) {
    load_box(to, map, x, y, barrier);
  } else {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(map), "r"(x), "r"(y), "r"(barrier), "h"((unsigned short)((1 << CLUSTER) - 1))
        : "memory");
  }
}
__device__ __forceinline__ void store_box(const CUtensorMap* map, int x, int y, unsigned from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y),
               "r"(from)
               : "memory");
}
__device__ __forceinline__ void meet_cluster() {
  if constexpr (CLUSTER == 1) {
    __syncthreads();
  } else {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
}
__device__ __forceinline__ void meet_group(int group) { asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory"); }
// Of an operand that is swizzled by 128 bytes.
__device__ __forceinline__ unsigned long long descriptor(unsigned address, int leading_bytes, int stride_bytes) {
  return (unsigned long long)((address & 0x3FFFF) >> 4) | (unsigned long long)(leading_bytes >> 4) << 16 |
         (unsigned long long)(stride_bytes >> 4) << 32 | 1ull << 62;
}
#define EIGHT(i)                                                                                              \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])
// d (64 x 256) = [d +] a (64 x 16) times b (16 x 256); the depth is contiguous in both.
__device__ __forceinline__ void multiply(float (&d)[128], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
      "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, "
      "%33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, "
      "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, "
      "%75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, "
      "%114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, p, 1, 1, 0, 0;\n}"
      : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56), EIGHT(64), EIGHT(72),
        EIGHT(80), EIGHT(88), EIGHT(96), EIGHT(104), EIGHT(112), EIGHT(120)
      : "l"(a), "l"(b), "r"(add));
}
__device__ __forceinline__ void settle(float (&d)[128]) {
#pragma unroll
  for (int i = 0; i < 128; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

__device__ __forceinline__ unsigned pack(float low, float high) {
  const __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
  return *(const unsigned*)&two;
}
__device__ __forceinline__ void store_matrices(unsigned to, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}

// v / (1 + exp(-2 u)) with u = sqrt(2 / pi) (v + 0.044715 v^3), which is v (1 + tanh(u)) / 2.
__device__ __forceinline__ float gelu(float v) {
  const float exponent = v * fmaf(v * v, -0.10294324f, -2.3022082f);  // of two
  float power, inverse;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
  return v * inverse;
}

struct Ring {
  int stage = 0, phase = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == STAGES) {
      stage = 0;
      phase ^= 1;
    }
  }
};

// 64 x 256 results of a warpgroup, in four pieces of 64 columns and two buffers.
__device__ __forceinline__ void store(const float (&sums)[128], const CUtensorMap* y_map, const __nv_bfloat16* bias,
                                      unsigned buffers, int m, int n, int N) {
  const int group = threadIdx.x / 128, t = threadIdx.x % 128, row = t / 32 * 16 + t % 16, high = t % 32 / 16;
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const unsigned buffer = buffers + q % 2 * kBox;
    unsigned packed[16];
#pragma unroll
    for (int j = 0; j < 8; ++j) {  // blocks of eight columns; this thread has two of them in two rows
      const int column = n + 64 * q + 8 * j + t % 4 * 2;
      const float2 add =
          column < N ? __bfloat1622float2(*(const __nv_bfloat162*)(bias + column)) : make_float2(0.0f, 0.0f);
      const float* d = sums + 32 * q + 4 * j;
      packed[2 * j] = pack(gelu(d[0] + add.x), gelu(d[1] + add.y));
      packed[2 * j + 1] = pack(gelu(d[2] + add.x), gelu(d[3] + add.y));
    }
    if (t == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");  // the buffer has been read
    meet_group(group);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      store_matrices(buffer + row * 128 + (((2 * j + high) ^ (row % 8)) << 4), packed[4 * j], packed[4 * j + 1],
                     packed[4 * j + 2], packed[4 * j + 3]);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    meet_group(group);
    if (t == 0) {
      store_box(y_map, n + 64 * q, m, buffer);
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
}

__device__ __forceinline__ void multiply_tiles(const CUtensorMap* a_map, const CUtensorMap* b_map,
                                               const CUtensorMap* c_map, const __nv_bfloat16* bias, unsigned memory,
                                               unsigned full, unsigned empty, int M, int N, int K) {
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32, rank = blockIdx.x % CLUSTER;
  const int steps = (K + kDepth - 1) / kDepth, across = (N + kColumns - 1) / kColumns;
  const int down = (M + kRows * CLUSTER - 1) / (kRows * CLUSTER);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * s) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty + 8 * s), "r"(8 * CLUSTER)
                   : "memory");  // warps
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  meet_cluster();

  const auto place = [&](int tile, int& m0, int& n0) {
    const int band = tile / (kBand * across), within = tile % (kBand * across);
    const int rows = min(kBand, down - band * kBand);
    m0 = ((band * kBand + within % rows) * CLUSTER + rank) * kRows;
    n0 = within / rows * kColumns;
  };
  Ring ring;
  int m0, n0;
  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 256) {  // the producer
      for (int tile = blockIdx.x / CLUSTER; tile < down * across; tile += gridDim.x / CLUSTER) {
        place(tile, m0, n0);
        for (int step = 0; step < steps; ++step) {
          const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * kBytes;
          wait(empty + 8 * ring.stage, ring.phase ^ 1);
          expect(barrier, kBytes);
          load_box(to, a_map, step * kDepth, m0, barrier);
          const int part = kColumns / CLUSTER * rank;
          load_shared_box(to + kBytesA + part * 128, b_map, step * kDepth, n0 + part, barrier);
          ring.advance();
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const unsigned buffers = memory + STAGES * kBytes + group * 2 * kBox;
    float sums[128];
    for (int tile = blockIdx.x / CLUSTER; tile < down * across; tile += gridDim.x / CLUSTER) {
      place(tile, m0, n0);
      int used = 0;
      for (int step = 0; step < steps; ++step) {
        wait(full + 8 * ring.stage, ring.phase);
        const unsigned from = memory + ring.stage * kBytes;
        const unsigned long long left = descriptor(from + group * kBox, 16, 1024);
        const unsigned long long right = descriptor(from + kBytesA, 16, 1024);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 4; ++k) multiply(sums, left + k * (32 >> 4), right + k * (32 >> 4), step + k > 0);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");  // the products of the step before are done
        if (step > 0 && lane < CLUSTER) arrive(empty + 8 * used, lane);
        used = ring.stage;
        ring.advance();
      }
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      settle(sums);
      if (lane < CLUSTER) arrive(empty + 8 * used, lane);
      store(sums, c_map, bias, buffers, m0 + 64 * group, n0, N);
    }
    if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  __syncwarp();
  meet_cluster();  // no block leaves while another may arrive at its barriers
}

// Shapes without tensor maps: 96 x 64 tiles, 4 x 4 elements a thread.
__device__ __forceinline__ void multiply_plainly(float* memory, const __nv_bfloat16* a, const __nv_bfloat16* b,
                                                 const __nv_bfloat16* bias, __nv_bfloat16* c, int M, int N, int K) {
  float(*left)[97] = (float(*)[97])memory;  // 32 x 96 of the left operand, transposed
  float(*right)[65] = (float(*)[65])(memory + 32 * 97);
  const int t = threadIdx.x, x = t % 16, y = t / 16;
  const int across = (N + 63) / 64, count = across * ((M + 95) / 96);
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const int m0 = tile / across * 96, n0 = tile % across * 64;
    float sums[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 32) {
      __syncthreads();
      const int k = k0 + t % 32;
      for (int r = t / 32; r < 96; r += 12) {
        left[t % 32][r] = m0 + r < M && k < K ? __bfloat162float(a[(size_t)(m0 + r) * K + k]) : 0.0f;
      }
      for (int r = t / 32; r < 64; r += 12) {
        right[t % 32][r] = n0 + r < N && k < K ? __bfloat162float(b[(size_t)(n0 + r) * K + k]) : 0.0f;
      }
      __syncthreads();
#pragma unroll 4
      for (int l = 0; l < 32; ++l) {
#pragma unroll
        for (int e = 0; e < 16; ++e) sums[e / 4][e % 4] += left[l][y + 24 * (e / 4)] * right[l][x + 16 * (e % 4)];
      }
    }
#pragma unroll
    for (int e = 0; e < 16; ++e) {
      const int m = m0 + y + 24 * (e / 4), n = n0 + x + 16 * (e % 4);
      if (m < M && n < N) c[(size_t)m * N + n] = __float2bfloat16(gelu(sums[e / 4][e % 4] + __bfloat162float(bias[n])));
    }
  }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const __grid_constant__ CUtensorMap c_map, const __nv_bfloat16* a, const __nv_bfloat16* b,
         const __nv_bfloat16* bias, __nv_bfloat16* c, int M, int N, int K, int mapped) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
  const unsigned start = shared_address(raw), memory = (start + 1023) / 1024 * 1024;  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
  if (mapped) {
    multiply_tiles(&a_map, &b_map, &c_map, bias, memory, full, empty, M, N, K);
  } else {
    multiply_plainly((float*)(raw + (memory - start)), a, b, bias, c, M, N, K);
  }
}
