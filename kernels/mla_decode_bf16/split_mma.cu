/* kernelwright
{
  "problem": "mla_decode_bf16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "blocks take equal shares of all keys: cp.async, tiles of KEYS keys, mma.sync, then a combine launch",
  "tunables": {"ROWS": [64, 32, 16], "KEYS": [32, 64], "STAGES": [2, 3], "BLOCKS": [132, 264, 108]},
  "constraints": ["1152 * (ROWS + KEYS * STAGES) + 2 * ROWS * KEYS <= 229376"],
  "workspace": {
    "parts": {"bytes": "4096 * ROWS * max(BLOCKS, ceil_div(H, ROWS))"},
    "stats": {"bytes": "16 * ROWS * max(BLOCKS, ceil_div(H, ROWS))"}
  },
  "launches": [
    {"kernel": "attend", "grid": ["ceil_div(H, ROWS)", "max(1, BLOCKS / ceil_div(H, ROWS))", 1],
     "block": ["128 + 128 * (min(H, ROWS) > 16)", 1, 1],
     "shared_bytes": "1152 * KEYS * STAGES + (1152 + 2 * KEYS) * min(ROWS, 16 + 16 * (H > 16) + 32 * (H > 32))",
     "args": ["q", "cache", "table", "lengths", "o", "parts", "stats", "scale", "B", "H", "M"]},
    {"kernel": "combine", "grid": ["ceil_div(B * H, 4)", 1, 1], "block": [128, 1, 1],
     "args": ["parts", "stats", "lengths", "o", "scale", "B", "H", "max(1, BLOCKS / ceil_div(H, ROWS))"]}
  ]
}
*/
// o = sum_{j < length} p[j] c[j], p = softmax_{j < length}(scale * (q . c[j])); q: [B, H, 576], o: [B, H, 512]; c[j]
// is position j % 64 of page table[b, j / 64] of the cache [P, 64, 576], its first 512 elements are the value.
//
// A block owns up to ROWS heads; for at most 16 it has four warps instead of eight. The tiles of KEYS keys of all
// sequences form one list, of which each block takes an equal share: the end of one sequence, some whole ones, and the
// begin of another. A sequence within one share goes straight to o. For another, each block writes its part, with the
// largest score and the sum of weights (parts, stats), and the second launch combines them. FlashMLA (DeepSeek, 2025)
// divides the work this way.
//
// Tiles lie in STAGES buffers, swizzled so that ldmatrix finds eight rows in different banks, and cp.async runs ahead
// into the next sequence. The warps divide heads and keys for the scores, meet to find the largest score of each head,
// and pass weights in bf16 through shared memory. For the second product they divide heads and the 512 columns.
#include <cuda_bf16.h>
#include <kw/pack.cuh>

using namespace kw;

constexpr int D = 576, kColumns = 512, kMostSequences = 256;
constexpr int kRow = 2 * D, kTile = KEYS * kRow;  // bytes

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(unsigned to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
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
__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
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
__device__ __forceinline__ int tiles_of(int length) { return (length + KEYS - 1) / KEYS; }
// Bytes from the start of the weights to 16 of a row's 2 * KEYS.
__device__ __forceinline__ int weights_at(int row, int chunk) {
  return row * 2 * KEYS + ((chunk ^ (KEYS == 64 ? row % 8 : row / 2 % 4)) << 4);
}

struct Tensors {
  const __nv_bfloat16 *q, *cache;
  const int *table, *lengths;
  __nv_bfloat16* o;
  float *parts, *stats;
  float scale;
  int B, H, M;
};

// Exchanged by the warps of a block; [across][row] in the first two.
struct Exchange {
  float maxima[128], totals[128], keeps[64];
};

// Where to find the tiles of a share, in turn.
struct Walk {
  int tile, sequence = 0;
  const __nv_bfloat16* from = nullptr;

  // Finds the tile's sequence and reads its page number ahead of its use.
  __device__ __forceinline__ void find(int end, const int* before, const Tensors& t) {
    if (tile >= end) return;
    while (tile >= before[sequence + 1]) ++sequence;
    const int key = (tile - before[sequence]) * KEYS;
    const int page = __ldg(t.table + (size_t)sequence * t.M + key / 64);
    from = t.cache + ((size_t)page * 64 + key % 64) * D;
  }
};

// Rows of 576 elements into swizzled rows of 1152 bytes; zeros from row `held` on.
template <int rows, int threads>
__device__ __forceinline__ void load_rows(unsigned to, const __nv_bfloat16* from, int held) {
  const int row = threadIdx.x / 8, chunk = threadIdx.x % 8;
  to += row * kRow + ((chunk ^ (row % 8)) << 4);
#pragma unroll
  for (int r = 0; r < rows; r += threads / 8) {
    const bool inside = r + row < held;
    const __nv_bfloat16* source = from + (inside ? (r + row) * D + 8 * chunk : 0);
#pragma unroll
    for (int i = 0; i < D / 64; ++i) copy16(to + r * kRow + 128 * i, source + (inside ? 64 * i : 0), inside);
  }
}

template <int kRows>
__device__ __forceinline__ void attend_rows(unsigned char* memory, Exchange& exchange, const int* before,
                                            const Tensors& t) {
  constexpr int kWarps = kRows == 16 ? 4 : 8, kThreads = 32 * kWarps;
  constexpr int kDown = kRows / 16, kAcross = kWarps / kDown, kOwn = KEYS / kAcross;  // of scores; kOwn: keys of a warp
  constexpr int kTall = kRows == 16 ? 1 : 2, kBands = kDown / kTall;                  // of o: 16 * kTall rows of a warp
  constexpr int kWide = kColumns * kBands / kWarps;                                   // and its columns
  float *maxima = exchange.maxima, *totals = exchange.totals, *keeps = exchange.keeps;
  const unsigned queries = shared_address(memory), tiles = queries + kRows * kRow, weights = tiles + STAGES * kTile;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int down = warp % kDown, across = warp / kDown, row = 16 * down + lane / 4;
  const int band = warp % kBands * 16 * kTall, column0 = warp / kBands * kWide;
  const int h0 = blockIdx.x * kRows, heads = t.H - h0 < kRows ? t.H - h0 : kRows;
  const float by = t.scale * 1.4426950408889634f;

  const int all = before[t.B], share = (all + gridDim.y - 1) / gridDim.y, start = blockIdx.y * share;
  const int end = start + share < all ? start + share : all;
  // Chunks of 16 bytes, of four steps of 16 columns: of rows lane % 16 for the left operand and for values.
  int at[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) at[i] = lane % 16 * kRow + (((2 * i + lane / 16) ^ (lane % 8)) << 4);

  Walk ahead{start};
  ahead.find(end, before, t);
  int filled = 0;  // the buffer that is filled next
  const auto load_next = [&] {
    if (ahead.tile < end) {
      load_rows<KEYS, kThreads>(tiles + filled * kTile, ahead.from, KEYS);
      ++ahead.tile;
      ahead.find(end, before, t);
    }
    commit();
    filled = filled + 1 == STAGES ? 0 : filled + 1;
  };
#pragma unroll
  for (int s = 0; s + 1 < STAGES; ++s) load_next();

  int sequence = 0, buffer = 0;
  for (int tile = start; tile < end;) {
    while (tile >= before[sequence + 1]) ++sequence;
    const int first = tile, last = before[sequence + 1] < end ? before[sequence + 1] : end;
    int left = t.lengths[sequence] - (tile - before[sequence]) * KEYS;
    load_rows<kRows, kThreads>(queries, t.q + ((size_t)sequence * t.H + h0) * D, heads);
    commit();
    float out[kTall][kWide / 8][4] = {}, base[2] = {-INFINITY, -INFINITY}, total[2] = {};
    for (; tile < last; ++tile, left -= KEYS) {
      if (tile == first) {
        wait<0>();
      } else {
        wait<STAGES - 2>();
      }
      __syncthreads();  // the tile is there, and all warps have left the one before it
      load_next();
      const unsigned keys = tiles + buffer * kTile;
      buffer = buffer + 1 == STAGES ? 0 : buffer + 1;

      float scores[kOwn / 8][4] = {};
      const unsigned left_at = queries + 16 * down * kRow;
#pragma unroll 3
      for (int box = 0; box < D / 64; ++box) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          unsigned a[4], b[4];
          load_matrices(a, left_at + 128 * box + at[i]);
          if constexpr (kOwn == 8) {
            const int chunk = (4 * (i / 2) + lane / 8) ^ (lane % 8);
            // Two steps of 16 columns at once; the compiler loads the same words once.
            load_matrices(b, keys + (across * 8 + lane % 8) * kRow + 128 * box + (chunk << 4));
            multiply(scores[0], a, b[i % 2 * 2], b[i % 2 * 2 + 1]);
          } else {
            const int chunk = (2 * i + lane / 8 % 2) ^ (lane % 8);
#pragma unroll
            for (int n = 0; n < kOwn / 16; ++n) {
              const int key = across * kOwn + 16 * n + lane / 16 * 8 + lane % 8;
              load_matrices(b, keys + key * kRow + 128 * box + (chunk << 4));
              multiply(scores[2 * n], a, b[0], b[1]);
              multiply(scores[2 * n + 1], a, b[2], b[3]);
            }
          }
        }
      }
      if (left < KEYS) {
#pragma unroll
        for (int i = 0; i < kOwn / 2; ++i) {
          if (across * kOwn + i / 4 * 8 + lane % 4 * 2 + i % 2 >= left) scores[i / 4][i % 4] = -INFINITY;
        }
      }
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float top = fmaxf(scores[0][2 * r], scores[0][2 * r + 1]);
#pragma unroll
        for (int j = 1; j < kOwn / 8; ++j) top = fmaxf(top, fmaxf(scores[j][2 * r], scores[j][2 * r + 1]));
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
        if (lane % 4 == 0) maxima[across * kRows + row + 8 * r] = top;
      }
      __syncthreads();
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float top = base[r];
#pragma unroll
        for (int a = 0; a < kAcross; ++a) top = fmaxf(top, maxima[a * kRows + row + 8 * r]);
        const float keep = exponential((base[r] - top) * by);
        base[r] = top;
        float sum = 0.0f;
#pragma unroll
        for (int j = 0; j < kOwn / 8; ++j) {
          const float x = exponential((scores[j][2 * r] - top) * by),
                      y = exponential((scores[j][2 * r + 1] - top) * by);
          sum += x + y;
          const int to = weights_at(row + 8 * r, across * (kOwn / 8) + j) + lane % 4 * 4;
          *(unsigned*)(memory + (weights - queries) + to) = pack_bf16(x, y);
        }
        total[r] = total[r] * keep + sum;
        if (across == 0 && lane % 4 == 0) keeps[row + 8 * r] = keep;
      }
      __syncthreads();

      float keep[kTall][2];
      bool shrinks = false;
#pragma unroll
      for (int m = 0; m < kTall; ++m) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          keep[m][r] = keeps[band + 16 * m + 8 * r + lane / 4];
          shrinks |= keep[m][r] != 1.0f;
        }
      }
      if (__any_sync(0xffffffffu, shrinks)) {
#pragma unroll
        for (int m = 0; m < kTall; ++m) {
#pragma unroll
          for (int i = 0; i < kWide / 2; ++i) out[m][i / 4][i % 4] *= keep[m][i / 2 % 2];
        }
      }
      const unsigned values = keys + column0 * 2;
#pragma unroll
      for (int k = 0; k < KEYS / 16; ++k) {
        unsigned p[kTall][4];
#pragma unroll
        for (int m = 0; m < kTall; ++m) {
          load_matrices(p[m], weights + weights_at(band + 16 * m + lane % 16, 2 * k + lane / 16));
        }
#pragma unroll
        for (int j = 0; j < kWide / 16; ++j) {
          unsigned v[4];
          load_transposed(v, values + 16 * k * kRow + j / 4 * 128 + at[j % 4]);
#pragma unroll
          for (int m = 0; m < kTall; ++m) {
            multiply(out[m][2 * j], p[m], v[0], v[1]);
            multiply(out[m][2 * j + 1], p[m], v[2], v[3]);
          }
        }
      }
    }

#pragma unroll
    for (int r = 0; r < 2; ++r) {
      total[r] += __shfl_xor_sync(0xffffffffu, total[r], 1);
      total[r] += __shfl_xor_sync(0xffffffffu, total[r], 2);
      if (lane % 4 == 0) totals[across * kRows + row + 8 * r] = total[r];
    }
    __syncthreads();
    const auto total_of = [&](int of) {
      float sum = totals[of];
#pragma unroll
      for (int a = 1; a < kAcross; ++a) sum += totals[a * kRows + of];
      return sum;
    };
    const bool whole = first == before[sequence] && last == before[sequence + 1];
    const size_t slot = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * 2 + (first > start);
#pragma unroll
    for (int m = 0; m < kTall; ++m) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int of = band + 16 * m + 8 * r + lane / 4;
        if (whole) {
          const float share_of = 1.0f / total_of(of);
          __nv_bfloat16* to = t.o + ((size_t)sequence * t.H + h0 + of) * kColumns + column0 + lane % 4 * 8;
#pragma unroll
          for (int j = 0; j < kWide / 32; ++j) {
            unsigned w[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
              w[c] = pack_bf16(out[m][4 * j + c][2 * r] * share_of, out[m][4 * j + c][2 * r + 1] * share_of);
            }
            transpose(w, lane);
            if (of < heads) *(uint4*)(to + 32 * j) = make_uint4(w[0], w[1], w[2], w[3]);
          }
        } else if (of < heads) {
          float* to = t.parts + (slot * kRows + of) * kColumns + column0 + lane % 4 * 2;
#pragma unroll
          for (int j = 0; j < kWide / 8; ++j)
            *(float2*)(to + 8 * j) = make_float2(out[m][j][2 * r], out[m][j][2 * r + 1]);
        }
      }
    }
    if (!whole && across == 0 && lane % 4 == 0) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int of = row + 8 * r;
        *(float2*)(t.stats + (slot * kRows + of) * 2) = make_float2(base[r], total_of(of));
      }
    }
  }
}

// Heads of a block.
__device__ __forceinline__ int rows_of(int H) {
  const int rows = H <= 16 ? 16 : H <= 32 ? 32 : 64;
  return rows < ROWS ? rows : ROWS;
}

extern "C" __global__ void __launch_bounds__(256, 1)
    attend(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ cache, const int* __restrict__ table,
           const int* __restrict__ lengths, __nv_bfloat16* __restrict__ o, float* __restrict__ parts,
           float* __restrict__ stats, float scale, int B, int H, int M) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ Exchange exchange;
  __shared__ int before[kMostSequences + 1];  // tiles of the sequences before this one
  if (threadIdx.x < 32) {
    int sum = 0;
    if (threadIdx.x == 0) before[0] = 0;
    for (int b0 = 0; b0 < B; b0 += 32) {
      const int b = b0 + threadIdx.x;
      int upto = b < B ? tiles_of(lengths[b]) : 0;
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(0xffffffffu, upto, step);
        if (threadIdx.x >= step) upto += other;
      }
      if (b < B) before[b + 1] = sum + upto;
      sum += __shfl_sync(0xffffffffu, upto, 31);
    }
  }
  __syncthreads();
  const Tensors t{q, cache, table, lengths, o, parts, stats, scale, B, H, M};
  const int rows = rows_of(H);
  if (rows == 16) {
    attend_rows<16>(memory, exchange, before, t);
  } else if (rows == 32) {
    if constexpr (ROWS >= 32) attend_rows<32>(memory, exchange, before, t);
  } else {
    if constexpr (ROWS == 64) attend_rows<64>(memory, exchange, before, t);
  }
}

// A warp to each head of o whose sequence is in the shares of several blocks. splits: shares.
extern "C" __global__ void __launch_bounds__(128)
    combine(const float* __restrict__ parts, const float* __restrict__ stats, const int* __restrict__ lengths,
            __nv_bfloat16* __restrict__ o, float scale, int B, int H, int splits) {
  const int head = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (head >= B * H) return;
  const int sequence = head / H, rows = rows_of(H), groups = (H + rows - 1) / rows;
  int begin = 0, all = 0;
  for (int b = lane; b < B; b += 32) {
    const int tiles = tiles_of(lengths[b]);
    all += tiles;
    begin += b < sequence ? tiles : 0;
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    all += __shfl_xor_sync(0xffffffffu, all, step);
    begin += __shfl_xor_sync(0xffffffffu, begin, step);
  }
  const int share = (all + splits - 1) / splits;
  const int first = begin / share, last = (begin + tiles_of(lengths[sequence]) - 1) / share;
  if (first == last) return;
  const auto row_of = [&](int block) {
    const size_t slot = ((size_t)block * groups + head % H / rows) * 2 + (begin > block * share);
    return slot * rows + head % H % rows;
  };
  const float by = scale * 1.4426950408889634f;
  float largest = -INFINITY, total = 0.0f;
  for (int block = first; block <= last; ++block) largest = fmaxf(largest, stats[row_of(block) * 2]);
  float4 sums[4] = {};
  for (int block = first; block <= last; ++block) {
    const size_t row = row_of(block);
    const float2 stat = *(const float2*)(stats + row * 2);
    const float weight = exponential((stat.x - largest) * by);
    total += weight * stat.y;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float4 four = *(const float4*)(parts + row * kColumns + 128 * i + 4 * lane);
      sums[i].x += weight * four.x, sums[i].y += weight * four.y;
      sums[i].z += weight * four.z, sums[i].w += weight * four.w;
    }
  }
  const float share_of = 1.0f / total;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    *(uint2*)(o + (size_t)head * kColumns + 128 * i + 4 * lane) = make_uint2(
        pack_bf16(sums[i].x * share_of, sums[i].y * share_of), pack_bf16(sums[i].z * share_of, sums[i].w * share_of));
  }
}
