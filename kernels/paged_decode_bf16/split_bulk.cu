/* kernelwright
{
  "problem": "paged_decode_bf16",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "warps take equal shares of all keys by TMA, each with a ring of its own, then a combine launch",
  "tunables": {"WARPS": [8, 4, 16, 12], "STAGES": [3, 2, 1, 6], "RESIDENT": [1, 2, 3], "HEADS": [8, 4, 1],
               "HALVES": [2, 1]},
  "constraints": ["WARPS * STAGES * RESIDENT <= 27", "WARPS * RESIDENT <= 16", "WARPS % HEADS == 0"],
  "workspace": {
    "parts": {"bytes": "512 * min(G, 8) * (132 * RESIDENT * WARPS + B * HK * ceil_div(G, 8))"},
    "stats": {"bytes": "8 * min(G, 8) * (132 * RESIDENT * WARPS + B * HK * ceil_div(G, 8))"}
  },
  "tensor_maps": {
    "k_map": {"tensor": "k", "shape": [64, 2, "HK", "P * T"], "box": [64, "HALVES", 1, 16], "swizzle": 128,
              "l2_promotion": 256},
    "v_map": {"tensor": "v", "shape": [64, 2, "HK", "P * T"], "box": [64, "HALVES", 1, 16], "swizzle": 128,
              "l2_promotion": 256}
  },
  "launches": [
    {"kernel": "attend",
     "grid": ["min(132 * RESIDENT, ceil_div(B * HK * ceil_div(G, 8) * ceil_div(M * T, 16), 4 * WARPS))", 1, 1],
     "block": ["32 * WARPS", 1, 1], "shared_bytes": "8192 * WARPS * STAGES + 1024",
     "args": ["q", "k_map", "v_map", "table", "lengths", "parts", "stats", "B", "HK", "G", "M", "T"]},
    {"kernel": "combine", "grid": ["B * HK * G", 1, 1], "block": [128, 1, 1], "overlaps_previous": true,
     "args": ["parts", "stats", "lengths", "o", "B", "HK", "G",
              "WARPS * min(132 * RESIDENT, ceil_div(B * HK * ceil_div(G, 8) * ceil_div(M * T, 16), 4 * WARPS))"]}
  ]
}
*/
// o = sum_{j < length} p[j] v[j], p = softmax_{j < length}(q . k[j] / sqrt(128)); q, o: [B, HK * G, 128], k, v:
// [P, T, HK, 128], where position j of sequence b is the one at j % T of page table[b, j / T]; parts: [slots,
// min(G, 8), 128] in fp32, stats: largest score and sum of weights of each part.
//
// The cache is read in tiles of 16 keys of one head, which lie in one page. Up to eight queries of a head share a tile;
// a head with more queries counts as two. The tiles of all sequences form one list, of which each worker takes an equal
// share whatever the lengths: the end of one head's keys, some whole heads, and the beginning of another. A worker is
// one warp for each of up to HEADS neighbouring heads, whose keys lie side by side in memory. A warp writes sums and
// weights of each head in its share to a slot of its own. The second launch starts early, waits for them, and combines
// the slots of each head.
//
// A warp needs no other warp: it fetches tiles of keys and of values by TMA into a ring of STAGES in shared memory, and
// refills a buffer as soon as it has read it, so that nearly STAGES * 8 KiB per warp are always on their way. Lane l
// looks up the page of every 32nd tile, and fetches that tile. The tiles are swizzled for ldmatrix: if a box of the
// tensor map has half a key (HALVES = 1, 128 bytes), its eight rows lie in different banks; if it has whole keys
// (HALVES = 2), pairs of rows share banks, but the copies are half as many and read 256 contiguous bytes.
//
// Keys are the left operand of mma.sync, queries the right one, so eight queries fill an instruction. Scores become the
// right operand of the second product by movmatrix; its left operand is the transposed values.
//
// Measured on one H200 on 2026-11-28, cold caches, median: 140.2 us at 64x8x4x256x16x32768, 67 % of the bound, and 78.3
// us at 128x1x8x128x64x32768, 60 %.
#include <cuda.h>
#include <cuda_bf16.h>
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

using namespace kw;

constexpr int D = 128, kKeys = 16, kQueries = 8, kMostSequences = 256;
constexpr int kTile = 2 * kKeys * D;                                  // bytes
constexpr float kScale = 0.08838834764831845f * 1.4426950408889634f;  // exp2 is used

// d (16 x 8) += a (16 x 16) times b (16 x 8).
__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void load_matrices(unsigned (&r)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}
__device__ __forceinline__ void load_transposed(unsigned (&r)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
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
__device__ __forceinline__ int tiles_of(int length) { return (length + kKeys - 1) / kKeys; }
__device__ __forceinline__ int octets_of(int G) { return (G + kQueries - 1) / kQueries; }
// How many neighbouring heads share a worker.
__device__ __forceinline__ int heads_of_worker(int heads) {
  const int power = heads & -heads;
  return power < HEADS ? power : HEADS;
}
// How many workers have a share that is not empty.
__device__ __forceinline__ int workers_of(int workers, int tiles) { return workers < tiles ? workers : tiles; }

// Bytes from the start of a tile to 16 of a key; chunk: 0 to 15.
__device__ __forceinline__ int place_in_tile(int key, int chunk) {
  const int half = chunk / 8, row = HALVES == 2 ? 2 * key + half : key;
  return (HALVES == 2 ? 0 : half * kTile / 2) + swizzled(row, chunk % 8);
}
// 16 keys from position `row` of the cache on.
__device__ __forceinline__ void fetch(unsigned to, const CUtensorMap* map, int head, int row, unsigned barrier) {
  mbarrier::expect(barrier, kTile);
#pragma unroll
  for (int half = 0; half < 2; half += HALVES) tma::load(to + half * kTile / 2, map, 0, half, head, row, barrier);
}

// A tile of a sequence. heads: which group of heads, of those that share a worker.
struct Piece {
  int sequence, heads, tile, tiles;
};
// The tile at `position` in the list. before: tiles of one head of the sequences before each; all: groups of heads.
__device__ __forceinline__ Piece find(const int* before, int B, int all, int position) {
  const int wanted = position / all;
  int sequence = 0;
#pragma unroll
  for (int step = kMostSequences / 2; step > 0; step /= 2) {
    if (sequence + step < B && before[sequence + step] <= wanted) sequence += step;
  }
  const int tiles = before[sequence + 1] - before[sequence], rest = position - before[sequence] * all;
  return Piece{sequence, rest / tiles, rest % tiles, tiles};
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
    attend(const __nv_bfloat16* __restrict__ q, const __grid_constant__ CUtensorMap k_map,
           const __grid_constant__ CUtensorMap v_map, const int* __restrict__ table, const int* __restrict__ lengths,
           float* __restrict__ parts, float* __restrict__ stats, int B, int HK, int G, int M, int T) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[WARPS][STAGES][2];
  __shared__ int before[kMostSequences + 1];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = lane / 4, column = lane % 4;
  const unsigned ring = round_up(shared_address(raw), 1024) + warp * STAGES * 2 * kTile;
  const unsigned full = shared_address(&barriers[warp][0][0]);
  if (threadIdx.x == 0) {
    tma::prefetch(&k_map);
    tma::prefetch(&v_map);
  }
  // A line of the table for each thread, so that the look-ups below find it in the L2 cache.
  const size_t entry = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 32;
  if (entry < (size_t)B * M) asm volatile("prefetch.global.L2 [%0];" ::"l"(table + entry));
  if (lane == 0) {
    for (int i = 0; i < 2 * STAGES; ++i) mbarrier::init(full + 8 * i, 1);
    mbarrier::fence_init();
    tma::fence();
  }
  if (warp == 0) {
    constexpr int kOfLane = kMostSequences / 32;
    int tiles[kOfLane], sum = 0;
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) {
      const int b = kOfLane * lane + i;
      tiles[i] = b < B ? tiles_of(lengths[b]) : 0;
    }
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) sum += tiles[i];
    int earlier = sum;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, earlier, step);
      if (lane >= step) earlier += other;
    }
    earlier -= sum;
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) {
      before[kOfLane * lane + i] = earlier;
      earlier += tiles[i];
    }
    if (lane == 31) before[kMostSequences] = earlier;
  }
  __syncthreads();

  const int octets = octets_of(G), heads = HK * octets, together = heads_of_worker(heads), all = heads / together;
  const int worker = blockIdx.x * (WARPS / together) + warp / together, total_tiles = before[B] * all;
  const int workers = workers_of(gridDim.x * (WARPS / together), total_tiles);
  if (worker >= workers) return;
  // Floor of worker * total_tiles / workers, without a product of 64 bits.
  const int each = total_tiles / workers, extra = total_tiles % workers;
  const int start = worker * each + worker * extra / workers;
  const int end = (worker + 1) * each + (worker + 1) * extra / workers;

  // A lane fetches every 32nd tile of the share. Where its next one is:
  int from_head = 0, from_row = 0;
  const auto look_up = [&](int position) {
    if (position >= end) return;
    const Piece piece = find(before, B, all, position);
    const int key = piece.tile * kKeys;  // T is a power of two
    from_head = (piece.heads * together + warp % together) / octets;
    from_row = table[(size_t)piece.sequence * M + key / T] * T + (key & (T - 1));
  };
  look_up(start + lane);
  if (lane < STAGES && start + lane < end) {
    fetch(ring + lane * 2 * kTile, &k_map, from_head, from_row, full + 16 * lane);
    fetch(ring + lane * 2 * kTile + kTile, &v_map, from_head, from_row, full + 16 * lane + 8);
  }
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");

  // Where the lane's matrices begin: of keys, four of 8 x 8 for 16 keys and 16 columns; of values likewise, transposed.
  const int key_of_keys = lane % 16, chunk_of_keys = lane / 16;
  const int key_of_values = lane / 16 * 8 + lane % 8, chunk_of_values = lane / 8 % 2;
  Ring<STAGES> stage;
  Piece piece = find(before, B, all, start);
  for (int position = start; position < end;) {
    const int head = piece.heads * together + warp % together;  // of HK * octets
    const int g0 = head % octets * kQueries, queries = G - g0 < kQueries ? G - g0 : kQueries;
    const int length = lengths[piece.sequence];
    const int rest = piece.tiles - piece.tile, count = end - position < rest ? end - position : rest;
    // Query `row` as the right operand: dimensions 8 i + 2 * column and the next.
    unsigned query[D / 8];
    const __nv_bfloat16* of = q + (((size_t)piece.sequence * HK + head / octets) * G + g0 + row) * D + 2 * column;
#pragma unroll
    for (int i = 0; i < D / 8; ++i) query[i] = row < queries ? *(const unsigned*)(of + 8 * i) : 0;

    // Queries 2 * column and the next: their largest scores and the sums of this lane's weights. out[i]: columns
    // 16 i + row (0 and 1) and 8 more (2 and 3) of both.
    float most[2] = {-INFINITY, -INFINITY}, total[2] = {};
    float out[D / 16][4] = {};
    for (int left = length - piece.tile * kKeys, last = position + count; position < last; ++position, left -= kKeys) {
      const unsigned keys = ring + stage.stage * 2 * kTile, values = keys + kTile, arrived = full + 16 * stage.stage;
      const int ahead = position - start + STAGES;
      const bool fetches = ahead < end - start && lane == ahead % 32;
      float scores[4] = {}, others[4] = {};
      mbarrier::wait(arrived, stage.phase);
#pragma unroll
      for (int i = 0; i < D / 16; ++i) {
        unsigned four[4];
        load_matrices(four, keys + place_in_tile(key_of_keys, 2 * i + chunk_of_keys));
        multiply(i % 2 ? others : scores, four, query[2 * i], query[2 * i + 1]);
      }
      __syncwarp();
      if (fetches) fetch(keys, &k_map, from_head, from_row, arrived);
#pragma unroll
      for (int e = 0; e < 4; ++e) scores[e] += others[e];
      if (row >= left) scores[0] = scores[1] = -INFINITY;
      if (row + 8 >= left) scores[2] = scores[3] = -INFINITY;
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
        for (int i = 0; i < D / 16; ++i) {
#pragma unroll
          for (int e = 0; e < 4; ++e) out[i][e] *= keep[e % 2];
        }
      }
      const unsigned low = transposed(pair(scores[0], scores[1])), high = transposed(pair(scores[2], scores[3]));
      mbarrier::wait(arrived + 8, stage.phase);
#pragma unroll
      for (int i = 0; i < D / 16; ++i) {
        unsigned four[4];
        load_transposed(four, values + place_in_tile(key_of_values, 2 * i + chunk_of_values));
        multiply(out[i], four, low, high);
      }
      __syncwarp();
      if (fetches) fetch(values, &v_map, from_head, from_row, arrived + 8);
      if (ahead % 32 == 31) look_up(start + ahead + 1 + lane);
      stage.advance();
    }

    const int group = piece.sequence * all + piece.heads;
    const size_t slot = (size_t)(worker + group) * together + warp % together;
    const int stride = G < kQueries ? G : kQueries;
#pragma unroll
    for (int c = 0; c < 2; ++c) {
#pragma unroll
      for (int step = 4; step < 32; step *= 2) total[c] += __shfl_xor_sync(0xffffffffu, total[c], step);
      const int g = 2 * column + c;
      if (g < queries) {
        float* to = parts + (slot * stride + g) * D + row;
#pragma unroll
        for (int i = 0; i < D / 16; ++i) to[16 * i] = out[i][c], to[16 * i + 8] = out[i][c + 2];
        if (row == 0) *(float2*)(stats + 2 * (slot * stride + g)) = make_float2(most[c], total[c]);
      }
    }
    piece.tile = 0;
    if (++piece.heads == all) {
      piece.heads = 0;
      ++piece.sequence;
    }
    if (position < end) piece.tiles = before[piece.sequence + 1] - before[piece.sequence];
  }
}

// A block to each head of o; its warps take the head's parts in turn. warps: of the first launch.
extern "C" __global__ void __launch_bounds__(128)
    combine(const float* parts, const float* stats, const int* __restrict__ lengths, __nv_bfloat16* __restrict__ o,
            int B, int HK, int G, int warps) {
  __shared__ __align__(16) float sums[4][D];
  __shared__ float maxima[4], totals[4];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int sequence = blockIdx.x / (HK * G), cache_head = blockIdx.x / G % HK, g = blockIdx.x % G;
  const int octets = octets_of(G), heads = HK * octets, together = heads_of_worker(heads), all = heads / together;
  const int head = cache_head * octets + g / kQueries, group = sequence * all + head / together;
  int begin = 0, tiles = 0;
  for (int b = lane; b < B; b += 32) {
    const int of_one = tiles_of(lengths[b]);
    tiles += of_one;
    begin += b < sequence ? of_one : 0;
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    tiles += __shfl_xor_sync(0xffffffffu, tiles, step);
    begin += __shfl_xor_sync(0xffffffffu, begin, step);
  }
  // The worker with a position is the last one whose share begins there or before.
  const int total_tiles = tiles * all, workers = workers_of(warps / together, total_tiles);
  const int own = tiles_of(lengths[sequence]), first_tile = begin * all + head / together * own;
  const int first = ((first_tile + 1LL) * workers - 1) / total_tiles;
  const int last = ((first_tile + own) * (long long)workers - 1) / total_tiles;
  const int stride = G < kQueries ? G : kQueries;
  const auto row_of = [&](int worker) {
    return ((size_t)(worker + group) * together + head % together) * stride + g % kQueries;
  };
  asm volatile("griddepcontrol.wait;" ::: "memory");
  float largest = -INFINITY, total = 0.0f;
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
  for (int worker = first + warp; worker <= last; worker += 4) {
    const size_t row = row_of(worker);
    const float2 stat = *(const float2*)(stats + 2 * row);
    const float4 four = *(const float4*)(parts + row * D + lane * 4);
    const float most = fmaxf(largest, stat.x);
    const float keep = exponential((largest - most) * kScale), share = exponential((stat.x - most) * kScale);
    largest = most;
    total = total * keep + share * stat.y;
    sum.x = sum.x * keep + share * four.x, sum.y = sum.y * keep + share * four.y;
    sum.z = sum.z * keep + share * four.z, sum.w = sum.w * keep + share * four.w;
  }
  *(float4*)&sums[warp][lane * 4] = sum;
  if (lane == 0) {
    maxima[warp] = largest;
    totals[warp] = total;
  }
  __syncthreads();
  const int d = threadIdx.x;
  float most = maxima[0], weights = 0.0f, result = 0.0f;  // the first warp has a part, so this is finite
#pragma unroll
  for (int w = 1; w < 4; ++w) most = fmaxf(most, maxima[w]);
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const float share = exponential((maxima[w] - most) * kScale);
    weights += share * totals[w];
    result += share * sums[w][d];
  }
  o[(size_t)blockIdx.x * D + d] = __float2bfloat16(result / weights);
}
