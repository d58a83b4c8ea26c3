/* kernelwright
{
  "problem": "top_p_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "a cluster keeps a row in registers; histograms of sums find the threshold, scans the token",
  "tunables": {"BLOCK": [512, 1024, 256], "LEAST": [4096, 2048, 8192, 16384], "COPIES": [2, 1],
               "AHEAD": [32, 0, 64]},
  "launches": [
    {"kernel": "top_p", "grid": ["M * (1 + (N > LEAST)) * (1 + (N > 2 * LEAST)) * (1 + (N > 4 * LEAST))", 1, 1],
     "block": ["BLOCK", 1, 1], "cluster": ["(1 + (N > LEAST)) * (1 + (N > 2 * LEAST)) * (1 + (N > 4 * LEAST))", 1, 1],
     "args": ["probs", "top_p", "u", "tokens", "N",
              "(1 + (N > LEAST)) * (1 + (N > 2 * LEAST)) * (1 + (N > 4 * LEAST))"]}
  ]
}
*/
// tokens[m]: the first column n with probs[m, n] >= t whose running sum of such elements exceeds u[m] times their sum,
// where t is the largest threshold whose elements add up to top_p[m] of the row. probs: [M, N] row-major; top_p, u,
// tokens: [M].
//
// Up to eight blocks share a row; each keeps its part, at most 16384 columns, in registers, so the row is read once.
// Floats of 0 and more are in the order of their bits, which are taken as digits of 12, 10 and 9 bits. A block adds the
// mantissas of its elements to the bin of their digit in shared memory, a sum of 64 bits in two words of 32, since
// shared memory adds words without loops; exponents are those of the bins. So the sums of bins are exact until they
// become floats. After a barrier of the cluster, each block adds up the bins of all blocks from the greatest digit on
// and finds the one that holds t. The next digit counts only elements of that bin. Elements below (1 - top_p) / N of
// the row's sum cannot matter, so few bins of the first digit are looked at. Once its part has arrived, a block asks
// for that of the row AHEAD rows on, about as many as run at a time, so that DRAM stays busy.
// For the token, warps add up their parts of the nucleus and blocks exchange their sums; the block that crosses
// u[m] * S finds the warp, the lane and the column.
// Cost: 4 M N bytes of DRAM traffic; an atomic operation on shared memory for each element that is not 0.
#include <kw/cluster.cuh>
#include <kw/shared.cuh>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kPacks = 4096 / BLOCK;  // float4 of a thread
constexpr int kWarps = BLOCK / 32, kBins = 2048, kMost = 8;

struct Scratch {
  unsigned low[kBins * COPIES], high[kBins];  // sums of mantissas: words, and how often they overflowed
  float sums[2][kBins];                       // of bins, which all blocks read: of one digit, and of the next
  float total;                                // of this block's part; all blocks read it
  float nuclei[kMost];                        // sums of the nucleus in each block, which others write
  float of_warps[kWarps];
  float of_tiles[128];  // the nucleus in 128 columns each
  float above;
  int bin, tile;
};

__device__ __forceinline__ void sync_blocks(int blocks) {
  __syncwarp();
  if (blocks > 1) {
    kw::cluster::sync<2>();
  } else {
    __syncthreads();
  }
}

// The number at p in shared memory, added up over the blocks of the cluster.
__device__ __forceinline__ float sum_of_blocks(const float* p, int blocks) {
  const unsigned address = kw::shared_address(p);
  float values[kMost];
#pragma unroll
  for (int b = 0; b < kMost; ++b) values[b] = b < blocks ? kw::cluster::load(kw::cluster::map(address, b)) : 0.0f;
  return ((values[0] + values[1]) + (values[2] + values[3])) + ((values[4] + values[5]) + (values[6] + values[7]));
}

__device__ __forceinline__ float scanned(float value, int lane) {
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const float other = __shfl_up_sync(kAll, value, step);
    if (lane >= step) value += other;
  }
  return value;
}
__device__ __forceinline__ float sum_of_warp(float value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAll, value, step);
  return value;
}

// Finds the bin, from `count` - 1 down to `first`, where the sum over all blocks, which begins with `above`, reaches
// the goal. Then s.bin is the bin and s.above the sum before it; returns false if no bin does.
__device__ __forceinline__ bool descend(const float* sums, int first, int count, float above, float goal, Scratch& s,
                                        int blocks) {
  constexpr int kEach = kBins / BLOCK;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int each = (count - first + BLOCK - 1) / BLOCK;
  float bins[kEach], own = 0.0f;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int bin = count - 1 - ((int)threadIdx.x * each + i);
    bins[i] = i < each && bin >= first ? sum_of_blocks(sums + bin, blocks) : 0.0f;
    own += bins[i];
  }
  const float scan = scanned(own, lane);
  if (lane == 31) s.of_warps[warp] = scan;
  __syncthreads();
  float run = above;
  int crossing = kWarps;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    if (crossing == kWarps) {
      if (run + s.of_warps[w] >= goal) {
        crossing = w;
      } else {
        run += s.of_warps[w];
      }
    }
  }
  if (crossing == warp) {
    const int chosen = __ffs(__ballot_sync(kAll, run + scan >= goal)) - 1;  // lane 31 votes for it
    const float before = __shfl_up_sync(kAll, scan, 1);
    if (lane == chosen) {
      float sum = run + (lane > 0 ? before : 0.0f);
      int i = 0;
#pragma unroll
      for (int j = 0; j < kEach - 1; ++j) {
        if (i == j && j + 1 < each && sum + bins[j] < goal) {
          sum += bins[j];
          i = j + 1;
        }
      }
      s.bin = max(first, count - 1 - (lane + 32 * warp) * each - i);
      s.above = sum;
    }
  }
  __syncthreads();
  return crossing < kWarps;
}

// Calls use(v) with each element of a thread's packs, which hold `columns` columns in the block.
template <class Use>
__device__ __forceinline__ void for_each(const float4* packs, int columns, const Use& use) {
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    if (4 * p * BLOCK < columns) {
      use(packs[p].x);
      use(packs[p].y);
      use(packs[p].z);
      use(packs[p].w);
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, BLOCK == 1024 ? 1 : 2)
    top_p(const float* __restrict__ probs, const float* __restrict__ top_p, const float* __restrict__ u,
          long long* __restrict__ tokens, int N, int blocks) {
  __shared__ __align__(16) Scratch s;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int row = blockIdx.x / blocks, rank = blockIdx.x - row * blocks;
  const int part = (N + 4 * blocks - 1) / (4 * blocks) * 4;
  const int begin = rank * part, end = min(N, begin + part);
  const float* __restrict__ in = probs + (size_t)row * N;

  float4 packs[kPacks];
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const int n = begin + 4 * (p * BLOCK + t);
    packs[p] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (N % 4 == 0) {
      if (n < end) packs[p] = __ldcs((const float4*)(in + n));
    } else {
      if (n < end) packs[p].x = in[n];
      if (n + 1 < end) packs[p].y = in[n + 1];
      if (n + 2 < end) packs[p].z = in[n + 2];
      if (n + 3 < end) packs[p].w = in[n + 3];
    }
  }
  const float share = top_p[row], place = u[row];
  for (int i = t; i < kBins * COPIES; i += BLOCK) s.low[i] = 0;
  for (int i = t; i < kBins; i += BLOCK) s.high[i] = 0;
  __syncthreads();

  const auto add = [&](int bin, int copies, unsigned mantissa) {
    const unsigned before = atomicAdd(&s.low[bin * copies + lane % copies], mantissa);
    if (before + mantissa < before) atomicAdd(&s.high[bin], 1u);
  };
  const auto mantissa_of = [](unsigned bits) { return bits < 0x800000u ? bits : (bits & 0x7fffffu) | 0x800000u; };

  unsigned least = 0;  // the bits of t that are known, then 0
  float above = 0.0f, goal = 0.0f;
  bool open = true;
#pragma unroll
  for (int digit = 0; digit < 3; ++digit) {
    if (!open) break;
    const int shift = digit == 0 ? 19 : digit == 1 ? 9 : 0, bins = digit == 0 ? kBins : digit == 1 ? 1024 : 512;
    if (digit == 0) {
      float sum = 0.0f;
#pragma unroll
      for (int p = 0; p < kPacks; ++p) sum += (packs[p].x + packs[p].y) + (packs[p].z + packs[p].w);
      if constexpr (AHEAD > 0) {
        if (row + AHEAD < (int)gridDim.x / blocks) {
          const float* next = in + (size_t)AHEAD * N;
          for (int n = begin + 32 * t; n < end; n += 32 * BLOCK) {
            asm volatile("prefetch.global.L2 [%0];" ::"l"(next + n) : "memory");
          }
        }
      }
      for_each(packs, end - begin, [&](float v) {
        const unsigned bits = __float_as_uint(v);
        if (v > 0.0f) add(min(bits >> 19, (unsigned)kBins - 1), COPIES, mantissa_of(bits));
      });
      sum = sum_of_warp(sum);
      if (lane == 0) s.of_warps[warp] = sum;
    } else {
      for_each(packs, end - begin, [&](float v) {
        const unsigned bits = __float_as_uint(v);
        if (v > 0.0f && bits >= least && bits - least < (unsigned)bins << shift) {
          add((bits - least) >> shift, 1, mantissa_of(bits));
        }
      });
    }
    __syncthreads();
    for (int b = t; b < bins; b += BLOCK) {
      unsigned long long sum = (unsigned long long)s.high[b] << 32;
      const int copies = digit == 0 ? COPIES : 1;
      for (int c = 0; c < copies; ++c) sum += s.low[b * copies + c];
      // An exponent of 0 has the scale of 1.
      const unsigned exponent = max((least + ((unsigned)b << shift)) >> 23, 1u);
      s.sums[digit % 2][b] = (float)sum * 1.1920929e-7f * __uint_as_float(exponent << 23);
    }
    if (digit == 0 && warp == 0) {
      const float sum = sum_of_warp(lane < kWarps ? s.of_warps[lane] : 0.0f);
      if (lane == 0) s.total = sum;
    }
    sync_blocks(blocks);

    int first = 0;
    if (digit == 0) {
      const float total = sum_of_blocks(&s.total, blocks);
      goal = share * total;
      const float tiny = fmaxf(0.0f, (1.0f - share) * total / N * 0.999f);
      first = min(__float_as_uint(tiny) >> 19, (unsigned)kBins - 1);
    }
    if (digit < 2) {  // for the next digit; descend() has a barrier
      for (int i = t; i < 1024; i += BLOCK) s.low[i] = s.high[i] = 0;
    }
    const bool found = descend(s.sums[digit % 2], first, bins, above, goal, s, blocks);
    least += (unsigned)(found ? s.bin : first) << shift;
    if (found) above = s.above;
    open = found;
  }

  // The nucleus.
  const float limit = __uint_as_float(least);
  const auto kept = [&](float v) { return v >= limit ? v : 0.0f; };
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const float sum = sum_of_warp((kept(packs[p].x) + kept(packs[p].y)) + (kept(packs[p].z) + kept(packs[p].w)));
    if (lane == 0) s.of_tiles[p * kWarps + warp] = sum;
  }
  __syncthreads();
  float four[4], scan = 0.0f;
  if (warp == 0) {
#pragma unroll
    for (int i = 0; i < 4; ++i) four[i] = s.of_tiles[lane * 4 + i];
    scan = scanned((four[0] + four[1]) + (four[2] + four[3]), lane);
    const float sum = __shfl_sync(kAll, scan, 31);
    if (lane < blocks) kw::cluster::store(kw::cluster::map(kw::shared_address(&s.nuclei[rank]), lane), sum);
  }
  sync_blocks(blocks);

  float nucleus = 0.0f;
  for (int b = 0; b < blocks; ++b) nucleus += s.nuclei[b];
  const float target = place * nucleus;
  float run = 0.0f, before = 0.0f;
  int owner = -1, last = 0;  // the block that crosses the target, and the last one with a part of the nucleus
  for (int b = 0; b < blocks; ++b) {
    if (s.nuclei[b] > 0.0f && owner < 0) {
      before = run;
      last = b;
    }
    run += s.nuclei[b];
    if (owner < 0 && run > target) owner = b;
  }
  if (owner < 0) owner = last;
  if (rank != owner) return;
  if (nucleus == 0.0f) {  // a row of zeros
    if (t == 0) tokens[row] = N - 1;
    return;
  }

  // The first of some parts at which the sum exceeds the target, or else the last part that has any of the nucleus.
  const auto crossing_of = [&](float sum, float inclusive) {
    const unsigned over = __ballot_sync(kAll, before + inclusive > target && sum > 0.0f);
    const unsigned some = __ballot_sync(kAll, sum > 0.0f);
    return over != 0 ? __ffs(over) - 1 : 31 - __clz(some);
  };
  const auto crossing_of_four = [&](const float* values, float sum) {
    int chosen = 0;
    bool crossed = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (!crossed && values[i] > 0.0f) {
        chosen = i;
        before = sum;
        sum += values[i];
        crossed = sum > target;
      }
    }
    return chosen;
  };
  if (warp == 0) {
    const float sum = (four[0] + four[1]) + (four[2] + four[3]);
    const int chosen = crossing_of(sum, scan);
    const float previous = __shfl_up_sync(kAll, scan, 1);
    if (lane == chosen) {
      s.tile = 4 * lane + crossing_of_four(four, before + (lane > 0 ? previous : 0.0f));
      s.above = before;
    }
  }
  __syncthreads();
  if (s.tile % kWarps != warp) return;
  before = s.above;
  const int tile = s.tile / kWarps;
  float values[4] = {};
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    if (p == tile) {
      values[0] = kept(packs[p].x);
      values[1] = kept(packs[p].y);
      values[2] = kept(packs[p].z);
      values[3] = kept(packs[p].w);
    }
  }
  const float sum = (values[0] + values[1]) + (values[2] + values[3]);
  const float inclusive = scanned(sum, lane);
  const int chosen = crossing_of(sum, inclusive);
  const float previous = __shfl_up_sync(kAll, inclusive, 1);
  if (lane == chosen) {
    const int element = crossing_of_four(values, before + (lane > 0 ? previous : 0.0f));
    tokens[row] = begin + 4 * (tile * BLOCK + t) + element;
  }
}
