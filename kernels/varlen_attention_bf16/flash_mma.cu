/* kernelwright
{
  "problem": "varlen_attention_bf16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "a warp to 16 rows: mma.sync for scores and for o, all in registers; cp.async fetches ahead",
  "tunables": {"WARPS": [4, 8, 2], "KEYS": [64, 32, 128], "STAGES": [2, 3], "RESIDENT": [2, 1, 3]},
  "constraints": ["544 * KEYS * STAGES <= 166912", "WARPS * RESIDENT <= 12"],
  "launches": [
    {"kernel": "attention", "grid": ["H", "ceil_div(T, 16 * WARPS) + S", 1], "block": ["32 * WARPS", 1, 1],
     "shared_bytes": "544 * KEYS * STAGES", "args": ["q", "k", "v", "offsets", "o", "H", "S"]}
  ]
}
*/
// o[i] = sum_{begin <= j <= i} p[j] v[j], p = softmax_{begin <= j <= i}(q[i] . k[j] / sqrt(128)) for each head, where
// begin is the last of the offsets up to i; q, k, v, o: [T, H, 128], offsets: [S + 1].
//
// FlashAttention-2 (Dao, 2023). A tile is 16 * WARPS queries of a head of one sequence, counted from the sequence's
// begin. A block sorts the sequences by length and finds its tile: those of the longest sequence come first, the last
// queries of a sequence before earlier ones, all heads side by side. Blocks beyond the last tile end at once.
//
// A warp keeps its 16 queries, their scores and their sums in registers. Tiles of KEYS keys and values lie in STAGES
// buffers that all warps share; cp.async fills them ahead, with zeros behind the sequence's end. Rows are padded by 16
// bytes, so that ldmatrix finds eight rows in different banks. Weights are packed in place: the sums of one mma are the
// left operand of the next. Sums are only rescaled where a maximum has grown.
#include <cuda_bf16.h>
#include <kw/pack.cuh>

using namespace kw;

constexpr int D = 128, kRows = 16 * WARPS, kMostSequences = 64;
constexpr int kPitch = 2 * D + 16, kTile = KEYS * kPitch;  // bytes; a stage is a tile of keys, then one of values
constexpr float kScale = 0.08838834764831845f * 1.4426950408889634f;  // exp2 is used

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
__device__ __forceinline__ void multiply(float* d, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                         unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
__device__ __forceinline__ float exponential(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// A thread has rows lane / 4 and 8 more of its warp's 16, and two columns of every eight.
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
              const __nv_bfloat16* __restrict__ v, const int* __restrict__ offsets, __nv_bfloat16* __restrict__ o,
              int H, int S) {
  extern __shared__ __align__(16) unsigned char raw[];
  __shared__ int lengths[kMostSequences], found[3];  // found: start, length, and which tile of the sequence
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) found[1] = 0;
  for (int s = threadIdx.x; s < S; s += 32 * WARPS) lengths[s] = offsets[s + 1] - offsets[s];
  __syncthreads();
  for (int s = threadIdx.x; s < S; s += 32 * WARPS) {
    const int own = lengths[s];
    int tile = blockIdx.y;  // less the tiles of longer sequences
    for (int other = 0; other < S; ++other) {
      const int length = lengths[other];
      if (length > own || (length == own && other < s)) tile -= (length + kRows - 1) / kRows;
    }
    const int tiles = (own + kRows - 1) / kRows;
    if (0 <= tile && tile < tiles) {
      found[0] = offsets[s];
      found[1] = own;
      found[2] = tiles - 1 - tile;
    }
  }
  __syncthreads();
  const int length = found[1], first = found[2] * kRows;
  if (length == 0) return;
  const size_t stride = (size_t)H * D, head = found[0] * stride + blockIdx.x * D;
  const int end = first + kRows < length ? first + kRows : length, steps = (end + KEYS - 1) / KEYS;

  const unsigned stages = shared_address(raw);
  const auto fetch = [&](int step) {
    if (step < steps) {
      const unsigned stage = stages + step % STAGES * 2 * kTile;
#pragma unroll
      for (int e = threadIdx.x; e < KEYS * D / 8; e += 32 * WARPS) {
        const int j = e / (D / 8), chunk = e % (D / 8), key = step * KEYS + j;
        const size_t from = head + (key < length ? key : 0) * stride + chunk * 8;
        copy16(stage + j * kPitch + chunk * 16, k + from, key < length);
        copy16(stage + kTile + j * kPitch + chunk * 16, v + from, key < length);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll
  for (int step = 0; step < STAGES - 1; ++step) fetch(step);

  const int own_first = first + 16 * warp, row = own_first + lane / 4;  // row: the thread's first one
  unsigned query[D / 16][4];
#pragma unroll
  for (int i = 0; i < D / 16; ++i) {
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const int r = row + w % 2 * 8;
      query[i][w] =
          r < length ? *(const unsigned*)(q + head + r * stride + 16 * i + w / 2 * 8 + lane % 4 * 2) : 0;
    }
  }
  float out[D / 2] = {};
  Rows rows = {{-INFINITY, -INFINITY}, {0.0f, 0.0f}};
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    fetch(step + STAGES - 1);
    if (step * KEYS > own_first + 15) continue;  // all keys are later than this warp's rows
    const unsigned keys = stages + step % STAGES * 2 * kTile, values = keys + kTile;
    float scores[KEYS / 2] = {};
#pragma unroll
    for (int i = 0; i < D / 16; ++i) {
#pragma unroll
      for (int j = 0; j < KEYS / 16; ++j) {
        unsigned b[4];  // eight keys in words 0 and 1, the next eight in 2 and 3
        load_matrices(b, keys + (16 * j + lane / 16 * 8 + lane % 8) * kPitch + 32 * i + lane / 8 % 2 * 16);
        multiply(scores + 8 * j, query[i][0], query[i][1], query[i][2], query[i][3], b[0], b[1]);
        multiply(scores + 8 * j + 4, query[i][0], query[i][1], query[i][2], query[i][3], b[2], b[3]);
      }
    }
    if (step * KEYS + KEYS - 1 > own_first) {
#pragma unroll
      for (int i = 0; i < KEYS / 2; ++i) {
        if (step * KEYS + i / 4 * 8 + lane % 4 * 2 + i % 2 > row + i / 2 % 2 * 8) scores[i] = -INFINITY;
      }
    }
    rows.weigh(scores, out);
#pragma unroll
    for (int i = 0; i < KEYS / 16; ++i) {
      unsigned a[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) a[w] = pack_bf16(scores[8 * i + 2 * w], scores[8 * i + 2 * w + 1]);
#pragma unroll
      for (int j = 0; j < D / 16; ++j) {
        unsigned b[4];  // eight columns in words 0 and 1, the next eight in 2 and 3
        load_transposed(b, values + (16 * i + lane % 16) * kPitch + 32 * j + lane / 16 * 16);
        multiply(out + 8 * j, a[0], a[1], a[2], a[3], b[0], b[1]);
        multiply(out + 8 * j + 4, a[0], a[1], a[2], a[3], b[2], b[3]);
      }
    }
  }

#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float total = rows.total[r];
    total += __shfl_xor_sync(0xffffffffu, total, 1);
    total += __shfl_xor_sync(0xffffffffu, total, 2);
    const float by = 1.0f / total;
    __nv_bfloat16* to = o + head + (row + 8 * r) * stride + lane % 4 * 8;
#pragma unroll
    for (int j = 0; j < D / 32; ++j) {
      unsigned w[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        w[c] = pack_bf16(out[16 * j + 4 * c + 2 * r] * by, out[16 * j + 4 * c + 2 * r + 1] * by);
      }
      transpose(w, lane);
      if (row + 8 * r < length) *(uint4*)(to + 32 * j) = make_uint4(w[0], w[1], w[2], w[3]);
    }
  }
}
