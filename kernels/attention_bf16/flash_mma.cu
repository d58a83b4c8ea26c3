/* kernelwright
{
  "problem": "attention_bf16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "a warp to 16 * DOWN rows: mma.sync for scores and for o, all in registers; cp.async fetches ahead",
  "tunables": {"WARPS": [4, 8], "DOWN": [2, 1], "KEYS": [64, 32, 128], "STAGES": [2, 3], "RESIDENT": [2, 1, 3, 4]},
  "constraints": ["DOWN * WARPS * RESIDENT <= 16", "DOWN * WARPS * RESIDENT * KEYS <= 1024", "DOWN * KEYS <= 128",
                  "288 * KEYS * STAGES * RESIDENT <= 166912"],
  "launches": [
    {"kernel": "attention", "grid": ["ceil_div(S, 16 * DOWN * WARPS)", "B * H", 1], "block": ["32 * WARPS", 1, 1],
     "shared_bytes": "288 * KEYS * STAGES", "args": ["q", "k", "v", "o", "S"]}
  ]
}
*/
// o[i] = sum_j p[j] v[j], p = softmax_j(q[i] . k[j] / 8); q, k, v, o: [B * H, S, 64].
//
// FlashAttention-2 (Dao, 2023). A block has 16 * DOWN * WARPS queries of a head; its neighbours share the keys in L2. A
// warp keeps its queries, their scores and their sums in registers. With DOWN = 2, each fragment of keys or values that
// it reads from shared memory serves 32 rows, which halves these reads.
//
// Tiles of KEYS keys and values lie in STAGES buffers that all warps share; cp.async fills them ahead, with zeros
// beyond the end of the head. Rows are padded by 16 bytes, so that ldmatrix finds eight rows in different banks.
// Weights are packed in place: the sums of one mma are the left operand of the next. Sums are only rescaled where a
// maximum has grown.
//
// Compiled for sm_80 and sm_100 and executed on the cpu device; not run on such a GPU.
#include <cuda_bf16.h>
#include <kw/pack.cuh>

using namespace kw;

constexpr int D = 64, kRows = 16 * DOWN * WARPS;
constexpr int kPitch = 2 * D + 16, kTile = KEYS * kPitch;  // bytes; a stage is a tile of keys, then one of values
constexpr float kScale = 0.125f * 1.4426950408889634f;     // exp2 is used

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(unsigned to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}
__device__ __forceinline__ void load_matrices(unsigned (&words)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}
__device__ __forceinline__ void load_transposed(unsigned (&words)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}
// d (16 x 8) += a (16 x 16) times b (16 x 8).
__device__ __forceinline__ void multiply(float* d, const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ float exponential(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// A thread has rows lane / 4 and 8 more of 16, and two columns of every eight.
struct Rows {
  float most[2], total[2];

  // Scores become weights; where a maximum grows, out shrinks.
  __device__ __forceinline__ void weigh(float (&scores)[KEYS / 2], float (&out)[D / 2]) {
    float keep[2], base[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float top = most[r];
#pragma unroll
      for (int i = 0; i < KEYS / 4; ++i) top = fmaxf(top, scores[i / 2 * 4 + 2 * r + i % 2]);
      top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
      top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
      keep[r] = exponential((most[r] - top) * kScale);
      most[r] = top;
      base[r] = top * kScale;
    }
    if (__any_sync(0xffffffffu, keep[0] != 1.0f || keep[1] != 1.0f)) {
#pragma unroll
      for (int i = 0; i < D / 2; ++i) out[i] *= keep[i / 2 % 2];
    }
    // The product with kScale may only be rounded before the difference while it is small.
    if (__any_sync(0xffffffffu, fmaxf(fabsf(base[0]), fabsf(base[1])) > 1024.0f)) {
#pragma unroll
      for (int i = 0; i < KEYS / 2; ++i) scores[i] -= most[i / 2 % 2];
      base[0] = base[1] = 0.0f;
    }
    float sum[2] = {};
#pragma unroll
    for (int i = 0; i < KEYS / 2; ++i) {
      scores[i] = exponential(fmaf(scores[i], kScale, -base[i / 2 % 2]));
      sum[i / 2 % 2] += scores[i];
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) total[r] = total[r] * keep[r] + sum[r];
  }
};

extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
    attention(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
              const __nv_bfloat16* __restrict__ v, __nv_bfloat16* __restrict__ o, int S) {
  extern __shared__ __align__(16) unsigned char raw[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, steps = (S + KEYS - 1) / KEYS;
  const size_t head = (size_t)blockIdx.y * S * D;
  const unsigned stages = shared_address(raw);
  const auto fetch = [&](int step) {
    if (step < steps) {
      const unsigned stage = stages + step % STAGES * 2 * kTile;
#pragma unroll
      for (int e = threadIdx.x; e < KEYS * D / 8; e += 32 * WARPS) {
        const int j = e / (D / 8), chunk = e % (D / 8), key = step * KEYS + j;
        const size_t from = head + (size_t)(key < S ? key : 0) * D + chunk * 8;
        copy16(stage + j * kPitch + chunk * 16, k + from, key < S);
        copy16(stage + kTile + j * kPitch + chunk * 16, v + from, key < S);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll
  for (int step = 0; step < STAGES - 1; ++step) fetch(step);

  const int own_first = blockIdx.x * kRows + 16 * DOWN * warp, row = own_first + lane / 4;  // row: the thread's first
  unsigned query[DOWN][D / 16][4];
#pragma unroll
  for (int m = 0; m < DOWN; ++m) {
#pragma unroll
    for (int i = 0; i < D / 16; ++i) {
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const int r = row + 16 * m + w % 2 * 8;
        query[m][i][w] = r < S ? *(const unsigned*)(q + head + (size_t)r * D + 16 * i + w / 2 * 8 + lane % 4 * 2) : 0;
      }
    }
  }
  float out[DOWN][D / 2] = {};
  Rows rows[DOWN];
#pragma unroll
  for (int m = 0; m < DOWN; ++m) rows[m] = {{-INFINITY, -INFINITY}, {0.0f, 0.0f}};
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    fetch(step + STAGES - 1);
    if (own_first >= S) continue;  // a warp without a query only fetches
    const unsigned keys = stages + step % STAGES * 2 * kTile, values = keys + kTile;
    float scores[DOWN][KEYS / 2] = {};
#pragma unroll
    for (int i = 0; i < D / 16; ++i) {
#pragma unroll
      for (int j = 0; j < KEYS / 16; ++j) {
        unsigned b[4];  // eight keys in words 0 and 1, the next eight in 2 and 3
        load_matrices(b, keys + (16 * j + lane / 16 * 8 + lane % 8) * kPitch + 32 * i + lane / 8 % 2 * 16);
#pragma unroll
        for (int m = 0; m < DOWN; ++m) {
          multiply(scores[m] + 8 * j, query[m][i], b[0], b[1]);
          multiply(scores[m] + 8 * j + 4, query[m][i], b[2], b[3]);
        }
      }
    }
    if (step * KEYS + KEYS > S) {
#pragma unroll
      for (int i = 0; i < KEYS / 2; ++i) {
        if (step * KEYS + i / 4 * 8 + lane % 4 * 2 + i % 2 < S) continue;
#pragma unroll
        for (int m = 0; m < DOWN; ++m) scores[m][i] = -INFINITY;
      }
    }
#pragma unroll
    for (int m = 0; m < DOWN; ++m) rows[m].weigh(scores[m], out[m]);
#pragma unroll
    for (int i = 0; i < KEYS / 16; ++i) {
      unsigned a[DOWN][4];
#pragma unroll
      for (int m = 0; m < DOWN; ++m) {
#pragma unroll
        for (int w = 0; w < 4; ++w) a[m][w] = pack_bf16(scores[m][8 * i + 2 * w], scores[m][8 * i + 2 * w + 1]);
      }
#pragma unroll
      for (int j = 0; j < D / 16; ++j) {
        unsigned b[4];  // eight columns in words 0 and 1, the next eight in 2 and 3
        load_transposed(b, values + (16 * i + lane % 16) * kPitch + 32 * j + lane / 16 * 16);
#pragma unroll
        for (int m = 0; m < DOWN; ++m) {
          multiply(out[m] + 8 * j, a[m], b[0], b[1]);
          multiply(out[m] + 8 * j + 4, a[m], b[2], b[3]);
        }
      }
    }
  }

#pragma unroll
  for (int m = 0; m < DOWN; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float total = rows[m].total[r];
      total += __shfl_xor_sync(0xffffffffu, total, 1);
      total += __shfl_xor_sync(0xffffffffu, total, 2);
      const float by = 1.0f / total;
      const int i = row + 16 * m + 8 * r;
      __nv_bfloat16* to = o + head + (size_t)i * D + lane % 4 * 8;
#pragma unroll
      for (int j = 0; j < D / 32; ++j) {
        unsigned w[4];
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          w[c] = pack_bf16(out[m][16 * j + 4 * c + 2 * r] * by, out[m][16 * j + 4 * c + 2 * r + 1] * by);
        }
        transpose(w, lane);
        if (i < S) *(uint4*)(to + 32 * j) = make_uint4(w[0], w[1], w[2], w[3]);
      }
    }
  }
}
