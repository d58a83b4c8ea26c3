/* kernelwright
{
  "problem": "gemm_w4_f16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "warps split K, each with a cp.async ring of its own; mma with weights on the left, f32 scaling per group",
  "tunables": {"TILES": [4, 2], "WARPS": [8, 4, 16], "STAGES": [3, 2, 4, 6], "STAGES_ONE": [4, 3, 2, 8], "BLOCKS": [1, 2]},
  "constraints": ["1024 * WARPS * STAGES * (TILES + 4) + 8288 * TILES <= 232448",
                  "1024 * WARPS * STAGES_ONE * (TILES + 2) + 8288 * TILES <= 232448", "WARPS * BLOCKS <= 16"],
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16 * TILES)", "ceil_div(M, 16)", 1], "block": ["32 * WARPS", 1, 1],
     "shared_bytes": "1024 * WARPS * max(STAGES * (TILES + 4), STAGES_ONE * (TILES + 2)) + TILES * (32 * ceil_div(K, 128) + 96)",
     "args": ["x", "w", "s", "y", "M", "N", "K"]}
  ]
}
*/
// y[m, n] = sum_k x[m, k] * s[n, k / 128] * (q[n, k] - 8); x: [M, K], w: [N, K / 2], s: [N, K / 128], y: [M, N], all
// row-major; byte j of a row of w holds q[n, 2 j] in its low and q[n, 2 j + 1] in its high four bits.
//
// A block makes 16 TILES columns of y and up to 16 rows. Its warps take groups of 128 weights in turn, each through a
// ring of cp.async copies of its own, so that no barrier stands between them; they add their sums in shared memory at
// the end. Weights are the left operand of mma, as in tensor_cores.cu, with columns permuted in both operands alike.
// The products of a group are added by the tensor cores, then scaled and added in fp32. Up to eight rows take a path
// with half of the sums and deeper rings.
//
// One of five replies of a model that saw the prompt alone (docs/strategies-nvidia-h200.md). Measured on one H200 on
// 2026-11-26, cold caches, median: 19.5 us at 16x8192x8192, 40 % of the bound, and 16.3 to 20.3 us at 1x8192x8192 in
// three confirmations, with BLOCKS=1 STAGES=3 STAGES_ONE=4 TILES=4 WARPS=8.
#include <cuda_fp16.h>

constexpr int kRows = 16 * TILES;

__device__ __forceinline__ void copy16(unsigned to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void copy4(unsigned to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int PENDING>
__device__ __forceinline__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

__device__ __forceinline__ __half2 halves(unsigned two) { return *(const __half2*)&two; }
__device__ __forceinline__ unsigned bits(__half2 two) { return *(const unsigned*)&two; }

// Eight weights of a word, less 8, as pairs (0, 4), (1, 5), (2, 6), (3, 7); exact.
__device__ __forceinline__ void unpack(unsigned (&pairs)[4], unsigned word) {
  const __half2 bias = halves(0x64086408u);    // 1024 + 8
  const __half2 part = halves(0x2c002c00u);    // 1 / 16
  const __half2 offset = halves(0xd480d480u);  // -(64 + 8)
  const unsigned next = word >> 8;
  pairs[0] = bits(__hsub2(halves((word & 0x000f000fu) | 0x64006400u), bias));
  pairs[1] = bits(__hfma2(halves((word & 0x00f000f0u) | 0x64006400u), part, offset));
  pairs[2] = bits(__hsub2(halves((next & 0x000f000fu) | 0x64006400u), bias));
  pairs[3] = bits(__hfma2(halves((next & 0x00f000f0u) | 0x64006400u), part, offset));
}

__device__ __forceinline__ void multiply(float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                         unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Where chunk c (eight columns) of a token's 16 lies, in units of 16 bytes.
__device__ __forceinline__ int place(int token, int c) { return token * 16 + (c ^ ((c >> 3) << 1) ^ (token & 1)); }

// TB blocks of eight tokens.
template <int TB, int DEPTH>
__device__ __forceinline__ void run(unsigned char* raw, const __half* __restrict__ x, const uint8_t* __restrict__ w,
                                    const __half* __restrict__ s, __half* __restrict__ y, int m0, int tokens, int N,
                                    int K) {
  constexpr int kStage = TILES * 1024 + TB * 2048, kWarpBytes = DEPTH * kStage;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int n0 = blockIdx.x * kRows, groups = K / 128, count = (groups - warp + WARPS - 1) / WARPS;
  const int scale_stride = 2 * (((groups + 1) / 2) | 1);  // an odd number of words
  unsigned char* ring = raw + warp * kWarpBytes;
  __half* scales = (__half*)(raw + WARPS * kWarpBytes);
  const unsigned ring_at = (unsigned)__cvta_generic_to_shared(ring);
  const size_t row_bytes = (size_t)(K / 2);

  const auto fetch = [&](int i, int stage) {  // the warp's group number i, without the commit
    if (i >= count) return;
    const int group = warp + WARPS * i;
    const unsigned to = ring_at + stage * kStage;
    const uint8_t* from = w + (size_t)(n0 + g) * row_bytes + group * 64 + t * 16;
#pragma unroll
    for (int r = 0; r < 2 * TILES; ++r) {
      const bool inside = n0 + g + 8 * r < N;
      copy16(to + r * 512 + lane * 16, inside ? from + (size_t)(8 * r) * row_bytes : w, inside ? 16 : 0);
    }
    const int c = lane % 16;
#pragma unroll
    for (int r = 0; r < 4 * TB; ++r) {
      const int token = 2 * r + lane / 16;
      if (token < tokens) {
        copy16(to + TILES * 1024 + place(token, c) * 16, x + (size_t)(m0 + token) * K + group * 128 + c * 8, 16);
      }
    }
  };

  fetch(0, 0);
  for (int row = warp; row < kRows && n0 + row < N; row += WARPS) {
    const __half* from = s + (size_t)(n0 + row) * groups;
    __half* to = scales + row * scale_stride;
    if (groups % 2 == 0) {
      const unsigned at = (unsigned)__cvta_generic_to_shared(to);
      for (int c = lane; c < groups / 2; c += 32) copy4(at + 4 * c, from + 2 * c);
    } else {
      for (int c = lane; c < groups; c += 32) to[c] = from[c];
    }
  }
  commit();
#pragma unroll
  for (int i = 1; i < DEPTH; ++i) {
    fetch(i, i);
    commit();
  }
  wait<DEPTH - 1>();
  __syncthreads();  // the scales are there

  float sums[TILES][TB][4];
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
#pragma unroll
    for (int b = 0; b < TB; ++b) {
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[tile][b][j] = 0.0f;
    }
  }

  int stage = 0;
  for (int i = 0; i < count; ++i) {
    wait<DEPTH - 1>();
    __syncwarp();  // lanes read tokens that others copied
    const unsigned char* from = ring + stage * kStage;
    const int group = warp + WARPS * i;

    unsigned right[TB][8][2];
#pragma unroll
    for (int b = 0; b < TB; ++b) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        uint4 v = make_uint4(0u, 0u, 0u, 0u);
        if (8 * b + g < tokens) v = *(const uint4*)(from + TILES * 1024 + place(8 * b + g, 4 * t + j) * 16);
        right[b][2 * j][0] = __byte_perm(v.x, v.z, 0x5410);      // columns 0, 4 of eight
        right[b][2 * j][1] = __byte_perm(v.x, v.z, 0x7632);      // 1, 5
        right[b][2 * j + 1][0] = __byte_perm(v.y, v.w, 0x5410);  // 2, 6
        right[b][2 * j + 1][1] = __byte_perm(v.y, v.w, 0x7632);  // 3, 7
      }
    }

#pragma unroll
    for (int tile = 0; tile < TILES; ++tile) {
      const uint4 upper = *(const uint4*)(from + 2 * tile * 512 + lane * 16);        // row g
      const uint4 lower = *(const uint4*)(from + (2 * tile + 1) * 512 + lane * 16);  // row g + 8
      const float upper_scale = __half2float(scales[(16 * tile + g) * scale_stride + group]);
      const float lower_scale = __half2float(scales[(16 * tile + g + 8) * scale_stride + group]);
      const unsigned u[4] = {upper.x, upper.y, upper.z, upper.w}, l[4] = {lower.x, lower.y, lower.z, lower.w};
      float parts[TB][4];
#pragma unroll
      for (int b = 0; b < TB; ++b) {
#pragma unroll
        for (int j = 0; j < 4; ++j) parts[b][j] = 0.0f;
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned p[4], q[4];
        unpack(p, u[j]);
        unpack(q, l[j]);
#pragma unroll
        for (int b = 0; b < TB; ++b) {
          multiply(parts[b], p[0], q[0], p[1], q[1], right[b][2 * j][0], right[b][2 * j][1]);
          multiply(parts[b], p[2], q[2], p[3], q[3], right[b][2 * j + 1][0], right[b][2 * j + 1][1]);
        }
      }
#pragma unroll
      for (int b = 0; b < TB; ++b) {
        sums[tile][b][0] = fmaf(parts[b][0], upper_scale, sums[tile][b][0]);
        sums[tile][b][1] = fmaf(parts[b][1], upper_scale, sums[tile][b][1]);
        sums[tile][b][2] = fmaf(parts[b][2], lower_scale, sums[tile][b][2]);
        sums[tile][b][3] = fmaf(parts[b][3], lower_scale, sums[tile][b][3]);
      }
    }
    __syncwarp();  // all lanes have read the stage
    fetch(i + DEPTH, stage);
    commit();
    stage = stage + 1 == DEPTH ? 0 : stage + 1;
  }

  wait<0>();
  __syncwarp();
  float* mine = (float*)ring;  // a warp's sums fit its own ring
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
#pragma unroll
    for (int b = 0; b < TB; ++b) {
#pragma unroll
      for (int j = 0; j < 4; ++j) mine[((tile * TB + b) * 4 + j) * 32 + lane] = sums[tile][b][j];
    }
  }
  __syncthreads();
  for (int e = threadIdx.x; e < TILES * TB * 128; e += 32 * WARPS) {
    const int of = e % 32, j = e / 32 % 4, b = e / 128 % TB, tile = e / 128 / TB;
    const int n = n0 + 16 * tile + of / 4 + 8 * (j / 2), token = 8 * b + of % 4 * 2 + j % 2;
    if (n >= N || token >= tokens) continue;
    float sum = 0.0f;
#pragma unroll
    for (int v = 0; v < WARPS; ++v) sum += ((const float*)(raw + v * kWarpBytes))[e];
    y[(size_t)(m0 + token) * N + n] = __float2half_rn(sum);
  }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    gemm(const __half* __restrict__ x, const uint8_t* __restrict__ w, const __half* __restrict__ s,
         __half* __restrict__ y, int M, int N, int K) {
  extern __shared__ __align__(128) unsigned char raw[];
  const int m0 = blockIdx.y * 16, tokens = min(16, M - m0);
  if (tokens <= 8) {
    run<1, STAGES_ONE>(raw, x, w, s, y, m0, tokens, N, K);
  } else {
    run<2, STAGES>(raw, x, w, s, y, m0, tokens, N, K);
  }
}
