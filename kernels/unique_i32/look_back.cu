/* kernelwright
{
  "problem": "unique_i32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one pass: a block lists a tile's runs in shared memory; look-back tells where they go",
  "tunables": {"BLOCK": [512, 256, 128], "PACKS": [4, 8], "THREADS_PER_SM": [1024, 1536, 768]},
  "constraints": ["BLOCK * PACKS >= 1024", "BLOCK * PACKS <= 2048", "PACKS * THREADS_PER_SM <= 8192",
                  "THREADS_PER_SM % BLOCK == 0"],
  "workspace": {"state": {"bytes": "8 * (1 + 2 * ceil_div(N, 4 * BLOCK * PACKS))", "zeroed": true}},
  "launches": [
    {"kernel": "unique", "grid": ["ceil_div(N, 4 * BLOCK * PACKS)", 1, 1], "block": ["BLOCK", 1, 1],
     "shared_bytes": "24 * BLOCK * PACKS", "args": ["x", "values", "counts", "number", "state", "N"]}
  ]
}
*/
// values[k], counts[k]: the k-th distinct number of x and how often it occurs, 0 from k = number[0] on; x, values,
// counts: [N], number: [1], state: a ticket counter, then a word per tile, then a word per group of tiles.
//
// x is read once, values and counts are written once. A run is a number with its equals; its first element is found by
// comparison with the element before. A block draws a ticket, so that the tiles before its own have begun whatever the
// order of blocks; loads its tile, PACKS int4 in each thread; and publishes how many runs begin in it and where the
// last of them begins, in one word with a flag, so that no fence is needed. While others do the same, it lists value
// and begin of its runs in shared memory. BLOCK tiles form a group. Each thread waits for one of the tiles before this
// one in the group, the last thread for all groups before; the block adds the runs and takes the last begin. The last
// tile of a group publishes both for all tiles up to its end, so groups are the only chain.
// A run's length needs the begin of the next one: a tile writes the lengths of the runs that its own begins end, the
// first of which began in an earlier tile. An element that begins no run leaves one place of the rest empty: a tile
// clears as many, from the end of values and counts backwards, so the number of runs need not be known and all tiles
// write alike.
// Cost: 12 N bytes of DRAM traffic; a 32-bit load and a 16-bit one from shared memory for each run.
constexpr int kWarps = BLOCK / 32;  // groups of 32 lanes, whatever the wave
constexpr int kEach = 4 * PACKS, kTile = BLOCK * kEach;

using Word = unsigned long long;

// Of one or more tiles: how many runs begin there, and 1 + where the last of them does; last is 0 if none does.
struct Found {
  int runs, last;
};

__device__ __forceinline__ void publish(Word* at, Found found) {
  atomicExch(at, (Word)1 << 63 | (Word)found.last << 32 | (unsigned)found.runs);
}

__device__ __forceinline__ Found wait_for(const Word* at) {
  Word word = *(const volatile Word*)at;
  while (word >> 63 == 0) word = *(const volatile Word*)at;
  return {(int)(unsigned)word, (int)((unsigned)(word >> 32) & 0x7fffffffu)};
}

__device__ __forceinline__ int4 load(const int* __restrict__ x, int n, int N) {
  if (n + 3 < N) return __ldcs((const int4*)(x + n));
  int4 four = make_int4(0, 0, 0, 0);
  if (n < N) four.x = x[n];
  if (n + 1 < N) four.y = x[n + 1];
  if (n + 2 < N) four.z = x[n + 2];
  return four;
}

extern "C" __global__ void __launch_bounds__(BLOCK, THREADS_PER_SM / BLOCK)
    unique(const int* __restrict__ x, int* __restrict__ values, int* __restrict__ counts, int* __restrict__ number,
           Word* state, int N) {
  extern __shared__ __align__(16) unsigned char raw[];
  int* const listed = (int*)raw;                                     // [kTile]
  unsigned short* const begins = (unsigned short*)(listed + kTile);  // [kTile], within the tile
  __shared__ int ticket;
  __shared__ Found of_warp[kWarps], from_before[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Word* tiles = state + 1;
  Word* groups = tiles + gridDim.x;
  if (threadIdx.x == 0) ticket = (int)atomicAdd(state, (Word)1);
  __syncthreads();
  const int tile = ticket, place = tile % BLOCK, group = tile / BLOCK;
  const int start = tile * kTile, in_tile = warp * (128 * PACKS) + 4 * lane, first = start + in_tile;

  int4 packs[PACKS];
#pragma unroll
  for (int p = 0; p < PACKS; ++p) packs[p] = load(x, first + p * 128, N);
  int left = 0;  // the element to the left of the warp's first pack
  if (lane == 0 && first > 0 && first < N) left = x[first - 1];

  // Which elements begin runs: four bits for each pack. `sums` has a byte for each pack: its runs in the lanes before.
  unsigned flags[(PACKS + 7) / 8] = {}, sums[PACKS / 4] = {};
  int last = 0;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int n = first + p * 128;
    int before = __shfl_up_sync(KW_WHOLE_WAVE, packs[p].w, 1, 32);
    if (lane == 0) before = left;
    left = __shfl_sync(KW_WHOLE_WAVE, packs[p].w, 31, 32);
    const bool a = n < N && (n == 0 || packs[p].x != before), b = n + 1 < N && packs[p].y != packs[p].x;
    const bool c = n + 2 < N && packs[p].z != packs[p].y, d = n + 3 < N && packs[p].w != packs[p].z;
    flags[p / 8] |= (unsigned)(a | b << 1 | c << 2 | d << 3) << p % 8 * 4;
    sums[p / 4] |= (unsigned)(a + b + c + d) << p % 4 * 8;
    if (a | b | c | d) last = n + (d ? 4 : c ? 3 : b ? 2 : 1);
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) last = max(last, __shfl_xor_sync(KW_WHOLE_WAVE, last, step, 32));
  unsigned totals[PACKS / 4];
  int runs = 0;
#pragma unroll
  for (int q = 0; q < PACKS / 4; ++q) {  // a byte holds 128, so none overflows into the next
    const unsigned own = sums[q];
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const unsigned lower = __shfl_up_sync(KW_WHOLE_WAVE, sums[q], step, 32);
      if (lane >= step) sums[q] += lower;
    }
    totals[q] = __shfl_sync(KW_WHOLE_WAVE, sums[q], 31, 32);
    sums[q] -= own;
#pragma unroll
    for (int b = 0; b < 4; ++b) runs += totals[q] >> b * 8 & 255;
  }
  if (lane == 0) of_warp[warp] = {runs, last};
  __syncthreads();
  int at = 0;  // of the warp's first run in the tile
  Found tile_has{0, 0};
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    if (w == warp) at = tile_has.runs;
    tile_has.runs += of_warp[w].runs;
    tile_has.last = max(tile_has.last, of_warp[w].last);
  }
  if (threadIdx.x == 0) publish(tiles + tile, tile_has);

#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    int to = at + (int)(sums[p / 4] >> p % 4 * 8 & 255);
    at += (int)(totals[p / 4] >> p % 4 * 8 & 255);
    const unsigned set = flags[p / 8] >> p % 8 * 4;
    const int four[4] = {packs[p].x, packs[p].y, packs[p].z, packs[p].w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (set >> i & 1) {
        listed[to] = four[i];
        begins[to++] = (unsigned short)(in_tile + p * 128 + i);
      }
    }
  }

  Found part{0, 0};
  if (threadIdx.x < place) part = wait_for(tiles + group * BLOCK + threadIdx.x);
  if (threadIdx.x == BLOCK - 1 && group > 0) part = wait_for(groups + group - 1);
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    part.runs += __shfl_xor_sync(KW_WHOLE_WAVE, part.runs, step, 32);
    part.last = max(part.last, __shfl_xor_sync(KW_WHOLE_WAVE, part.last, step, 32));
  }
  if (lane == 0) from_before[warp] = part;
  __syncthreads();
  Found before{0, 0};
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    before.runs += from_before[w].runs;
    before.last = max(before.last, from_before[w].last);
  }
  const Found all{before.runs + tile_has.runs, max(before.last, tile_has.last)};
  if (threadIdx.x == 0 && place == BLOCK - 1) publish(groups + group, all);
  if (threadIdx.x == 0 && tile == (int)gridDim.x - 1) {
    number[0] = all.runs;
    counts[all.runs - 1] = N - (all.last - 1);
  }

  // Place i of the tile: its i-th run, then what it clears. `rest` is where that ends.
  const int elements = min(kTile, N - start), rest = N - (start - before.runs);
#pragma unroll 8
  for (int j = 0; j < kEach; ++j) {
    const int i = threadIdx.x + j * BLOCK;
    if (i >= elements) break;
    if (i >= tile_has.runs) {
      __stcs(values + rest - elements + i, 0);
      __stcs(counts + rest - elements + i, 0);
      continue;
    }
    __stcs(values + before.runs + i, listed[i]);
    const int begin = start + begins[i], begin_before = i > 0 ? start + begins[i - 1] : before.last - 1;
    if (before.runs + i > 0) __stcs(counts + before.runs + i - 1, begin - begin_before);
  }
}
