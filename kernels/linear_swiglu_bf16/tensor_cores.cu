/* kernelwright
{
  "problem": "linear_swiglu_bf16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "mma.sync: BM x BN tiles of gate and up together, STAGES buffers filled by cp.async",
  "tunables": {"BM": [128, 64], "BN": [64, 128, 32], "BK": [32, 64], "WM": [64, 32], "STAGES": [3, 2, 4],
               "BAND": [8, 4, 16]},
  "constraints": ["(BM / WM) * (BN / 32) >= 2", "(BM / WM) * (BN / 32) <= 8", "8 * (BM / WM) <= BK",
                  "8 * (BN / 32) * 32 <= BK * WM", "STAGES * (BM + 2 * BN) * (2 * BK + 16) <= 101376"],
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, BN) * ceil_div(M, BM)", 1, 1],
     "block": ["32 * (BM / WM) * (BN / 32)", 1, 1], "shared_bytes": "STAGES * (BM + 2 * BN) * (2 * BK + 16)",
     "args": ["x", "w_gate", "w_up", "y", "M", "N", "K"]}
  ]
}
*/
// y[m, n] = silu(g) * u, g = sum_k x[m, k] * w_gate[n, k], u = sum_k x[m, k] * w_up[n, k], silu(g) = g / (1 + exp(-g));
// x: [M, K], w_gate, w_up: [N, K], y: [M, N].
//
// A block makes a BM x BN tile of y in steps of BK along k; each of its warps makes WM x 32 of it by m16n8k16, with
// sums for gate and up, so a fragment of x serves both. cp.async fetches STAGES - 1 steps ahead. Rows are padded by 16
// bytes, so that ldmatrix finds eight rows in different banks. Blocks walk down BAND tiles before they step across, so
// that those in work at a time share rows of x and of the weights in L2. Tiles that reach over an edge are filled up
// with zeros; if K is no multiple of 8, copies go element by element; if N is no multiple of 8, stores do.
//
// Not yet timed on an A100.
#include <cuda_bf16.h>
#include <kw/pack.cuh>

using namespace kw;

constexpr int WN = 32;  // columns of y a warp
constexpr int kWarpsAcross = BN / WN, kThreads = 32 * (BM / WM) * kWarpsAcross;
constexpr int kPitch = 2 * BK + 16, kStage = (BM + 2 * BN) * kPitch;  // bytes; rows of x, of w_gate, of w_up
constexpr int kChunks = BK / 8, kApart = kThreads / kChunks;          // a thread copies one chunk of each kApart-th row
static_assert(BM % kApart == 0 && BN % kApart == 0, "copies");

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Eight elements of a row-major [rows, columns] matrix from (row, column) to shared memory, zeros beyond its edges.
__device__ __forceinline__ void copy8(unsigned char* to, const __nv_bfloat16* __restrict__ from, int row, int column,
                                      int rows, int columns) {
  const bool inside = row < rows && column < columns;
  const __nv_bfloat16* at = from + (inside ? (size_t)row * columns + column : 0);
  if (columns % 8 == 0) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(at),
                 "r"(inside ? 16 : 0)
                 : "memory");
    return;
  }
  unsigned words[4] = {};
  if (inside) {
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      if (column + e < columns) words[e / 2] |= (unsigned)*(const unsigned short*)(at + e) << (16 * (e % 2));
    }
  }
  *(uint4*)to = make_uint4(words[0], words[1], words[2], words[3]);
}

__device__ __forceinline__ void load_matrices(unsigned (&words)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
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

// The quotient is 0 where the power is infinite. Its reciprocal may be denormal, which counts where `up` is large.
__device__ __forceinline__ float silu_times(float gate, float up) {
  float power, inverse;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-1.4426950408889634f * gate));
  asm("rcp.approx.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
  return gate * inverse * up;
}

extern "C" __global__ void __launch_bounds__(kThreads, kThreads <= 128 ? 2 : 1)
    gemm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w_gate,
         const __nv_bfloat16* __restrict__ w_up, __nv_bfloat16* __restrict__ y, int M, int N, int K) {
  extern __shared__ __align__(16) unsigned char raw[];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, steps = (K + BK - 1) / BK;
  const int across = (N + BN - 1) / BN, down = (M + BM - 1) / BM;
  const int band = blockIdx.x / (BAND * across), within = blockIdx.x % (BAND * across);
  const int rows = min(BAND, down - band * BAND);
  const int m0 = (band * BAND + within % rows) * BM, n0 = within / rows * BN;
  const unsigned stages = shared_address(raw);

  const int own_row = t / kChunks, own_k = t % kChunks * 8;  // of the first copy, in a stage
  const auto fetch = [&](int step) {
    if (step < steps) {
      const int k = step * BK + own_k;
      unsigned char* to = raw + step % STAGES * kStage + own_row * kPitch + 2 * own_k;
#pragma unroll
      for (int a = 0; a < BM; a += kApart) copy8(to + a * kPitch, x, m0 + own_row + a, k, M, K);
#pragma unroll
      for (int a = 0; a < BN; a += kApart) {
        copy8(to + (BM + a) * kPitch, w_gate, n0 + own_row + a, k, N, K);
        copy8(to + (BM + BN + a) * kPitch, w_up, n0 + own_row + a, k, N, K);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll
  for (int step = 0; step < STAGES - 1; ++step) fetch(step);

  const int row = warp / kWarpsAcross * WM, column = warp % kWarpsAcross * WN;  // of the warp, in the block's tile
  float gates[WM / 16][WN / 8][4] = {}, ups[WM / 16][WN / 8][4] = {};
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    fetch(step + STAGES - 1);
    const unsigned stage = stages + step % STAGES * kStage;
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      unsigned left[WM / 16][4];
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {  // words 0 and 1: rows 0 and 8 on; words 2 and 3: 8 further along k
        load_matrices(left[i], stage + (row + 16 * i + lane % 16) * kPitch + 2 * k + lane / 16 * 16);
      }
#pragma unroll
      for (int j = 0; j < WN / 16; ++j) {  // words 0 and 1 are of the first eight columns, 2 and 3 of the others
        const unsigned from =
            stage + (BM + column + 16 * j + lane % 8 + lane / 16 * 8) * kPitch + 2 * k + lane / 8 % 2 * 16;
        unsigned gate[4], up[4];
        load_matrices(gate, from);
        load_matrices(up, from + BN * kPitch);
#pragma unroll
        for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            multiply(gates[i][2 * j + h], left[i], gate[2 * h], gate[2 * h + 1]);
            multiply(ups[i][2 * j + h], left[i], up[2 * h], up[2 * h + 1]);
          }
        }
      }
    }
  }

#pragma unroll
  for (int i = 0; i < WM / 8; ++i) {
    const int m = m0 + row + 8 * i + lane / 4, n = n0 + column + lane % 4 * 8;
    __nv_bfloat16* to = y + (size_t)m * N + n;
    unsigned words[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float *gate = &gates[i / 2][e][i % 2 * 2], *up = &ups[i / 2][e][i % 2 * 2];
      words[e] = pack_bf16(silu_times(gate[0], up[0]), silu_times(gate[1], up[1]));
    }
    transpose(words, lane);
    if (N % 8 == 0) {
      if (m < M && n < N) *(uint4*)to = make_uint4(words[0], words[1], words[2], words[3]);
    } else if (m < M) {
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        if (n + e < N) *(unsigned short*)(to + e) = (unsigned short)(words[e / 2] >> (e % 2 * 16));
      }
    }
  }
}
