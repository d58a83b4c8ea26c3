/* kernelwright
{
  "problem": "paged_decode_bf16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "blocks of CHUNK keys, whose pages warps stream into registers for mma.sync, then a combine launch",
  "tunables": {"CHUNK": [512, 1024, 2048, 256], "WARPS": [2, 4], "RESIDENT": [8, 12, 16],
               "HEADS_FIRST": [0, 1]},
  "workspace": {
    "parts": {"bytes": "512 * B * HK * G * ceil_div(M * T, CHUNK * ceil_div(M * T, 32 * CHUNK))"},
    "stats": {"bytes": "8 * B * HK * G * ceil_div(M * T, CHUNK * ceil_div(M * T, 32 * CHUNK))"}
  },
  "launches": [
    {"kernel": "attend",
     "grid": ["B * HK * ceil_div(G, 8) * ceil_div(M * T, CHUNK * ceil_div(M * T, 32 * CHUNK))", 1, 1],
     "block": ["32 * WARPS", 1, 1],
     "args": ["q", "k", "v", "table", "lengths", "parts", "stats", "HK", "G", "M", "T"]},
    {"kernel": "combine", "grid": ["ceil_div(B * HK * G, 4)", 1, 1], "block": [128, 1, 1],
     "args": ["parts", "stats", "lengths", "o", "B * HK * G", "HK * G", "M * T"]}
  ]
}
*/
// o = sum_{j < length} p[j] v[j], p = softmax_{j < length}(q . k[j] / sqrt(128)); q, o: [B, HK * G, 128], k, v:
// [P, T, HK, 128], where position j of sequence b is the one at j % T of page table[b, j / T]; parts: [B * HK * G,
// chunks, 128] in fp32, stats: largest score and sum of weights of each part.
//
// A block owns CHUNK keys of one head of one sequence and up to eight of its queries, or so many times CHUNK that a
// sequence has at most 32 parts; its warps take 16 keys at a time in turn, all of one page. For 32 turns at a time
// each lane reads the table's entry for one of them, at the start while the length is on its way, and a shuffle hands
// it out, so that the loop seldom waits for the table. Entries beyond the length are read but not used. Keys are the
// left operand of mma.sync, queries the right one, so eight queries fill an instruction. The order of dimensions in a
// product and of columns in the result is free: each lane loads 16 contiguous bytes of a key as its part of four
// fragments, and of values as its part of eight columns, so that nothing passes through shared memory. Scores become
// the right operand of the second product by movmatrix. A warp fetches its next keys before it computes weights and
// its next values after it has used the last ones; RESIDENT warps share a multiprocessor. With HEADS_FIRST,
// neighbouring blocks take the heads of the same keys, which lie side by side in memory; else they take the chunks of
// one head. Blocks beyond a sequence's length end at once.
//
// Measured on one H200 on 2026-11-27, cold caches, median: 144.2 us at 64x8x4x256x16x32768, 65 % of the bound, and
// 77.8 us at 128x1x8x128x64x32768, 60 %, with CHUNK=512 HEADS_FIRST=0 RESIDENT=8 WARPS=2.
#include <cuda_bf16.h>

constexpr int D = 128, kKeys = 16, kQueries = 8;
constexpr float kScale = 0.08838834764831845f * 1.4426950408889634f;  // exp2 is used

__device__ __forceinline__ uint4 load_once(const __nv_bfloat16* from) {
  uint4 r;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
               : "l"(from));
  return r;
}
// d (16 x 8) += a (16 x 16) times b (16 x 8).
__device__ __forceinline__ void multiply(float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                         unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
// A matrix of 8 x 8, of which lane l holds row l / 4, columns l % 4 * 2 and the next.
__device__ __forceinline__ unsigned transposed(unsigned two) {
  unsigned r;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(two));
  return r;
}
__device__ __forceinline__ unsigned pair(float x, float y) {
  const __nv_bfloat162 two = __floats2bfloat162_rn(x, y);
  return *(const unsigned*)&two;
}
__device__ __forceinline__ float exponential(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ unsigned word(const uint4& four, int i) {
  return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

// The lane's part of the 16 keys from `k` on, which are `stride` elements apart: keys lane / 4 and 8 more, 16 bytes of
// every 64. Keys at and beyond `count` read as the last one.
__device__ __forceinline__ void load_keys(uint4 (&r)[2][4], const __nv_bfloat16* k, int count, int stride, int lane) {
#pragma unroll
  for (int t = 0; t < 2; ++t) {
    const int wanted = 8 * t + lane / 4, key = wanted < count ? wanted : count - 1;
#pragma unroll
    for (int i = 0; i < 4; ++i) r[t][i] = load_once(k + key * stride + 32 * i + lane % 4 * 8);
  }
}
// Of their values: keys lane % 4 * 2, the next one, and 8 more of each; 16 bytes of each half.
__device__ __forceinline__ void load_values(uint4 (&r)[4][2], const __nv_bfloat16* v, int count, int stride, int lane) {
#pragma unroll
  for (int t = 0; t < 4; ++t) {
    const int wanted = t / 2 * 8 + lane % 4 * 2 + t % 2, key = wanted < count ? wanted : count - 1;
#pragma unroll
    for (int h = 0; h < 2; ++h) r[t][h] = load_once(v + key * stride + 64 * h + lane / 4 * 8);
  }
}

// Of a block, for sequences of up to S.
__device__ __forceinline__ int keys_of_block(int S) { return CHUNK * ((S + 32 * CHUNK - 1) / (32 * CHUNK)); }

extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT / WARPS)
    attend(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
           const __nv_bfloat16* __restrict__ v, const int* __restrict__ table, const int* __restrict__ lengths,
           float* __restrict__ parts, float* __restrict__ stats, int HK, int G, int M, int T) {
  __shared__ __align__(16) float sums[WARPS][kQueries][D];
  __shared__ float maxima[WARPS][kQueries], totals[WARPS][kQueries];
  const int own = keys_of_block(M * T), octets = (G + kQueries - 1) / kQueries, chunks = (M * T + own - 1) / own;
  const int g0 = blockIdx.x % octets * kQueries, rest = blockIdx.x / octets, sequence = rest / (HK * chunks);
  const int cache_head = HEADS_FIRST ? rest % HK : rest / chunks % HK;
  const int chunk = HEADS_FIRST ? rest / HK % chunks : rest % chunks;
  const int head = sequence * HK + cache_head, begin = chunk * own;  // head: of B * HK
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = lane / 4, column = lane % 4;
  // Of the turn that begins `lane` turns after the one with key `first`.
  const auto page_for_lane = [&](int first) {
    const int key = first + lane * WARPS * kKeys;
    return key < M * T ? table[(size_t)sequence * M + key / T] : 0;
  };
  int page_of_lane = page_for_lane(begin + warp * kKeys);
  const int length = lengths[sequence], end = length - begin < own ? length : begin + own;
  if (begin >= length) return;
  const int stride = HK * D;
  // Where key `first` of a turn is, in elements; T is a power of two.
  const auto place = [&](int first) {
    const int turn = (first - begin) / (WARPS * kKeys);
    if (turn % 32 == 0 && turn > 0) page_of_lane = page_for_lane(first);
    const int page = __shfl_sync(0xffffffffu, page_of_lane, turn % 32);
    return ((size_t)page * T + (first & (T - 1))) * stride + cache_head * D;
  };
  const int queries = G - g0 < kQueries ? G - g0 : kQueries;

  // Query `row`, in the order of dimensions in which keys come.
  uint4 query[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    query[i] = make_uint4(0, 0, 0, 0);
    if (row < queries) query[i] = *(const uint4*)(q + ((size_t)head * G + g0 + row) * D + 32 * i + column * 8);
  }

  // Queries 2 * column and the next: their largest scores and the sums of this lane's weights. out[h][u]: columns
  // 64 h + 8 row + 2 u (0 and 1) and the next (2 and 3) of both.
  float most[2] = {-INFINITY, -INFINITY}, total[2] = {};
  float out[2][4][4] = {};
  uint4 keys[2][4], values[4][2];
  int first = begin + warp * kKeys;
  if (first < end) {
    const size_t from = place(first);
    load_keys(keys, k + from, end - first, stride, lane);
    load_values(values, v + from, end - first, stride, lane);
  }
  for (; first < end; first += WARPS * kKeys) {
    const int next = first + WARPS * kKeys;
    const size_t from = next < end ? place(next) : 0;
    float scores[4] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      multiply(scores, keys[0][i].x, keys[1][i].x, keys[0][i].y, keys[1][i].y, query[i].x, query[i].y);
      multiply(scores, keys[0][i].z, keys[1][i].z, keys[0][i].w, keys[1][i].w, query[i].z, query[i].w);
    }
    if (next < end) load_keys(keys, k + from, end - next, stride, lane);
    if (first + row >= end) scores[0] = scores[1] = -INFINITY;
    if (first + row + 8 >= end) scores[2] = scores[3] = -INFINITY;
    float keep[2];
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      float top = fmaxf(scores[c], scores[c + 2]);
      top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 4));
      top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 8));
      top = fmaxf(most[c], fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 16)));
      keep[c] = exponential((most[c] - top) * kScale);
      most[c] = top;
      scores[c] = exponential((scores[c] - top) * kScale);
      scores[c + 2] = exponential((scores[c + 2] - top) * kScale);
      total[c] = total[c] * keep[c] + (scores[c] + scores[c + 2]);
    }
    if (__any_sync(0xffffffffu, keep[0] != 1.0f || keep[1] != 1.0f)) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
#pragma unroll
        for (int u = 0; u < 4; ++u) {
#pragma unroll
          for (int e = 0; e < 4; ++e) out[h][u][e] *= keep[e % 2];
        }
      }
    }
    const unsigned low = transposed(pair(scores[0], scores[1])), high = transposed(pair(scores[2], scores[3]));
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const unsigned w0 = word(values[0][h], u), w1 = word(values[1][h], u);
        const unsigned w2 = word(values[2][h], u), w3 = word(values[3][h], u);
        multiply(out[h][u], __byte_perm(w0, w1, 0x5410), __byte_perm(w0, w1, 0x7632), __byte_perm(w2, w3, 0x5410),
                 __byte_perm(w2, w3, 0x7632), low, high);
      }
    }
    if (next < end) load_values(values, v + from, end - next, stride, lane);
  }

#pragma unroll
  for (int c = 0; c < 2; ++c) {
#pragma unroll
    for (int step = 4; step < 32; step *= 2) total[c] += __shfl_xor_sync(0xffffffffu, total[c], step);
    if (row == 0) {
      maxima[warp][2 * column + c] = most[c];
      totals[warp][2 * column + c] = total[c];
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float* to = &sums[warp][2 * column + c][64 * h + 8 * row];
      *(float4*)to = make_float4(out[h][0][c], out[h][0][c + 2], out[h][1][c], out[h][1][c + 2]);
      *(float4*)(to + 4) = make_float4(out[h][2][c], out[h][2][c + 2], out[h][3][c], out[h][3][c + 2]);
    }
  }
  __syncthreads();
  for (int e = threadIdx.x; e < queries * (D / 4); e += 32 * WARPS) {
    const int g = e / (D / 4), d = e % (D / 4) * 4;
    float largest = maxima[0][g], weights = 0;  // the first warp has keys, so this is finite
#pragma unroll
    for (int w = 1; w < WARPS; ++w) largest = fmaxf(largest, maxima[w][g]);
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
      const float share = exponential((maxima[w][g] - largest) * kScale);
      const float4 part = *(const float4*)&sums[w][g][d];
      weights += share * totals[w][g];
      sum.x += share * part.x, sum.y += share * part.y, sum.z += share * part.z, sum.w += share * part.w;
    }
    const size_t at = ((size_t)head * G + g0 + g) * chunks + chunk;
    *(float4*)(parts + at * D + d) = sum;
    if (d == 0) *(float2*)(stats + 2 * at) = make_float2(largest, weights);
  }
}

// A warp to each head of o.
extern "C" __global__ void __launch_bounds__(128)
    combine(const float* __restrict__ parts, const float* __restrict__ stats, const int* __restrict__ lengths,
            __nv_bfloat16* __restrict__ o, int heads, int heads_of_one, int S) {
  const int head = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (head >= heads) return;
  const int of_block = keys_of_block(S), chunks = (S + of_block - 1) / of_block;
  const int used = (lengths[head / heads_of_one] + of_block - 1) / of_block;
  const float2* stat = (const float2*)stats + (size_t)head * chunks;
  const float4* part = (const float4*)parts + (size_t)head * chunks * (D / 4) + lane;
  float largest = -INFINITY, total = 0;
  for (int c = lane; c < used; c += 32) largest = fmaxf(largest, stat[c].x);
#pragma unroll
  for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
  for (int c = 0; c < used; ++c) {
    const float2 of_part = stat[c];
    const float4 four = part[(size_t)c * (D / 4)];
    const float share = exponential((of_part.x - largest) * kScale);
    total += share * of_part.y;
    sum.x += share * four.x, sum.y += share * four.y, sum.z += share * four.z, sum.w += share * four.w;
  }
  const float by = 1.0f / total;
  *(uint2*)(o + (size_t)head * D + lane * 4) = make_uint2(pair(sum.x * by, sum.y * by), pair(sum.z * by, sum.w * by));
}
