/* kernelwright
{
  "problem": "sort_pairs_i32",
  "backends": ["cpu", "cuda"],
  "description": "a block sorts a row in shared memory by its bytes; warps find equal bytes by ballots",
  "tunables": {"ITEMS": [16, 8, 32], "THREADS_PER_SM": [1024, 1536, 512], "MATCH": [0, 1]},
  "constraints": ["ITEMS * THREADS_PER_SM <= 16384"],
  "launches": [
    {"kernel": "sort_pairs", "grid": ["M", 1, 1],
     "block": ["64 * (1 + (N > 64 * ITEMS) + 2 * (N > 128 * ITEMS) + 4 * (N > 256 * ITEMS))", 1, 1],
     "shared_bytes": "64 * (8 * ITEMS + 32) * (1 + (N > 64 * ITEMS) + 2 * (N > 128 * ITEMS) + 4 * (N > 256 * ITEMS))",
     "args": ["keys", "values", "sorted_keys", "sorted_values", "N"]}
  ]
}
*/
// sorted_keys[m, :], sorted_values[m, :]: the pairs of keys[m, :] and values[m, :] in ascending order of their keys;
// all [M, N] row-major.
//
// With the sign turned, keys ascend as unsigned numbers. Four passes sort by one byte each, the lowest first. A thread
// holds ITEMS pairs, a warp ITEMS * 32 neighbours of the row. Round by round a warp takes 32 neighbours: eight ballots
// tell each lane who has the same byte (or the instruction for it does, MATCH), and a counter for each byte in shared
// memory says how many the warp has met before. Sums over bytes and warps turn the counters into first places. Then the
// pairs go to their places in shared memory, and are read from there in order for the next pass. Equal keys keep their
// order. A row is filled up with the largest key, whose pairs end behind all others.
constexpr int kBytes = 256, kMost = 4096 / ITEMS;  // values of a byte; threads of a block
constexpr unsigned kSign = 0x80000000u;

// Lanes whose byte is the same.
__device__ __forceinline__ unsigned lanes_like(unsigned byte) {
  if (MATCH) return __match_any_sync(0xffffffffu, byte);
  unsigned mask = 0xffffffffu;
#pragma unroll
  for (int b = 0; b < 8; ++b) {
    unsigned like;  // In C++, the compiler tests the bit twice, for the ballot and for its meaning.
    asm volatile(
        "{\n.reg .pred one;\n.reg .b32 both;\nand.b32 both, %1, %2;\nsetp.ne.u32 one, both, 0;\n"
        "vote.sync.ballot.b32 %0, one, 0xffffffff;\n@!one not.b32 %0, %0;\n}"
        : "=r"(like)
        : "r"(byte), "r"(1u << b));
    mask &= like;
  }
  return mask;
}

template <int COUNT>
struct __align__(4 * COUNT) Counters {
  unsigned of[COUNT];
};

// Counters of the warps for each byte become the places where their pairs begin.
template <int WARPS>
__device__ __forceinline__ void add_up(unsigned* counters, unsigned* sums) {
  constexpr int kThreads = WARPS * 32, kEach = kThreads < kBytes ? kBytes / kThreads : 1;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const bool takes_part = t * kEach < kBytes;
  Counters<kEach> counts[WARPS];
  unsigned total = 0;
  if (takes_part) {
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
      counts[w] = *(const Counters<kEach>*)(counters + w * kBytes + t * kEach);
#pragma unroll
      for (int e = 0; e < kEach; ++e) total += counts[w].of[e];
    }
  }
  unsigned place = total;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const unsigned before = __shfl_up_sync(0xffffffffu, place, step);
    if (lane >= step) place += before;
  }
  if (lane == 32 - 1) sums[warp] = place;
  __syncthreads();
  place -= total;
#pragma unroll
  for (int w = 0; w < WARPS - 1; ++w) place += w < warp ? sums[w] : 0;
  if (takes_part) {
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
#pragma unroll
      for (int w = 0; w < WARPS; ++w) {
        const unsigned count = counts[w].of[e];
        counts[w].of[e] = place;
        place += count;
      }
    }
#pragma unroll
    for (int w = 0; w < WARPS; ++w) *(Counters<kEach>*)(counters + w * kBytes + t * kEach) = counts[w];
  }
  __syncthreads();
}

// EACH: pairs of a thread.
template <int WARPS, int EACH>
__device__ __forceinline__ void sort_row(const int* __restrict__ keys, const int* __restrict__ values,
                                         int* __restrict__ sorted_keys, int* __restrict__ sorted_values, int N,
                                         unsigned* shared, unsigned* sums) {
  constexpr int kWarpPairs = EACH * 32, kPairs = WARPS * kWarpPairs;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = warp * kWarpPairs + lane;
  unsigned *const shared_keys = shared, *const shared_values = shared + kPairs, *const counters = shared + 2 * kPairs;
  unsigned* const own = counters + warp * kBytes;
  const unsigned below = (1u << lane) - 1;
  unsigned key[EACH];
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const int n = first + i * 32;
    key[i] = n < N ? (unsigned)__ldcs(keys + n) ^ kSign : 0xffffffffu;
    shared_values[n] = n < N ? (unsigned)__ldcs(values + n) : 0u;
  }
#pragma unroll 1
  for (int pass = 0; pass < 4; ++pass) {
    // Two ways to take a byte: the compiler would keep what it knows to be the same, for which there are no registers.
    const unsigned take = 0x4440 + pass, take_again = 0x5550 + pass;
#pragma unroll
    for (int b = 0; b < kBytes / 32; ++b) own[b * 32 + lane] = 0;
    __syncwarp();
    unsigned ranks[EACH / 2];  // two in each word
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      const unsigned byte = __byte_perm(key[i], 0, take);
      const unsigned like = lanes_like(byte);
      const int before = __popc(like & below);
      const unsigned met = own[byte];
      __syncwarp();
      if (before == 0) own[byte] = met + __popc(like);
      __syncwarp();
      const unsigned rank = met + before;
      ranks[i / 2] = i % 2 == 0 ? rank : ranks[i / 2] | rank << 16;
    }
    __syncthreads();
    add_up<WARPS>(counters, sums);
#pragma unroll
    for (int i = 0; i < EACH; i += 2) {
      const unsigned low = own[__byte_perm(key[i], 0, take_again)] + (ranks[i / 2] & 0xffff);
      const unsigned high = own[__byte_perm(key[i + 1], 0, take_again)] + (ranks[i / 2] >> 16);
      shared_keys[low] = key[i];
      shared_keys[high] = key[i + 1];
      ranks[i / 2] = low | high << 16;
    }
    unsigned value[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i) value[i] = shared_values[first + i * 32];
    __syncthreads();  // all have taken their values
#pragma unroll
    for (int i = 0; i < EACH; i += 2) {
      shared_values[ranks[i / 2] & 0xffff] = value[i];
      shared_values[ranks[i / 2] >> 16] = value[i + 1];
    }
    if (pass < 3) {
#pragma unroll
      for (int i = 0; i < EACH; ++i) key[i] = shared_keys[first + i * 32];
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const int n = threadIdx.x + i * (WARPS * 32);
    if (n < N) {
      __stcs(sorted_keys + n, (int)(shared_keys[n] ^ kSign));
      __stcs(sorted_values + n, (int)shared_values[n]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kMost, THREADS_PER_SM / kMost > 0 ? THREADS_PER_SM / kMost : 1)
    sort_pairs(const int* __restrict__ keys, const int* __restrict__ values, int* __restrict__ sorted_keys,
               int* __restrict__ sorted_values, int N) {
  extern __shared__ __align__(16) unsigned char raw[];
  __shared__ unsigned sums[kMost / 32];
  const size_t row = (size_t)blockIdx.x * N;
  if (N <= 256) {
    sort_row<2, 4>(keys + row, values + row, sorted_keys + row, sorted_values + row, N, (unsigned*)raw, sums);
  } else if (blockDim.x == 64) {
    sort_row<2, ITEMS>(keys + row, values + row, sorted_keys + row, sorted_values + row, N, (unsigned*)raw, sums);
  } else if (blockDim.x == 128) {
    sort_row<4, ITEMS>(keys + row, values + row, sorted_keys + row, sorted_values + row, N, (unsigned*)raw, sums);
  } else if (kMost >= 256 && blockDim.x == 256) {
    sort_row<8, ITEMS>(keys + row, values + row, sorted_keys + row, sorted_values + row, N, (unsigned*)raw, sums);
  } else if (kMost >= 512) {
    sort_row<16, ITEMS>(keys + row, values + row, sorted_keys + row, sorted_values + row, N, (unsigned*)raw, sums);
  }
}
