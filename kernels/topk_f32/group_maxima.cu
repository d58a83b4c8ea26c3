/* kernelwright
{
  "problem": "topk_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "maxima of contiguous groups in one streaming pass; only the best 64 to 96 groups are read again and ranked",
  "tunables": {"BLOCK": [512, 256, 1024], "GROUP": [16, 32, 8], "LOADS": [4, 2, 8], "BLOCKS": [512, 1024, 256]},
  "workspace": {"maxima": {"bytes": "4 * min(M, BLOCKS) * ceil_div(N, GROUP)"}},
  "launches": [
    {"kernel": "topk_scan", "grid": ["M", "max(1, min(ceil_div(N, 4096), ceil_div(BLOCKS, M)))", 1], "block": ["BLOCK", 1, 1],
     "shared_bytes": "max(4 * ceil_div(N, GROUP), 768 * GROUP)",
     "args": ["x", "maxima", "values", "indices", "N"]},
    {"kernel": "topk_choose", "grid": ["max(1, M * (M < BLOCKS))", 1, 1], "block": [1024, 1, 1],
     "shared_bytes": "max(4 * ceil_div(N, GROUP), 768 * GROUP)",
     "args": ["x", "maxima", "values", "indices", "N", "max(1, min(ceil_div(N, 4096), ceil_div(BLOCKS, M)))"],
     "overlaps_previous": true}
  ]
}
*/
// values[m, r], indices[m, r]: the r-th largest of x[m, :] and its column; of equals the lower column first.
//
// A streaming pass reads each element once and keeps the maxima of groups of GROUP neighbours. Only the best 64 to 96
// groups are read again, and their elements ranked. A model's reply, as it came. On one H200 on 2026-11-22: 153 us at
// 4096 x 32000.
typedef unsigned long long Key;  // (value in unsigned order, complement of the place): unique, larger is better

constexpr unsigned ALL = 0xffffffffu;
constexpr int MOST_GROUPS = 96, MOST_KEPT = 128;

struct Scratch {
  int parts[2][32];
  unsigned least[32], largest[32];
  int chosen[MOST_GROUPS];
  Key kept[MOST_KEPT];
  int groups, found, left;
};

__device__ __forceinline__ unsigned ordered(float v) {
  unsigned bits = __float_as_uint(v);
  if (bits == 0x80000000u) bits = 0u;  // -0 equals +0
  return (bits & 0x80000000u) ? ~bits : (bits | 0x80000000u);
}

__device__ __forceinline__ float value_of(unsigned key) {
  return __uint_as_float((key & 0x80000000u) ? (key ^ 0x80000000u) : ~key);
}

// A key that at least 64 and at most `most` of the n unique keys reach; n > most >= 64.
template <int THREADS, class At>
__device__ __forceinline__ Key threshold(const At& at, int n, int most, Scratch& s) {
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  unsigned least = ALL, largest = 0u;
  for (int i = tid; i < n; i += THREADS) {
    const unsigned k = (unsigned)(at(i) >> 32);
    least = min(least, k);
    largest = max(largest, k);
  }
  least = __reduce_min_sync(ALL, least);
  largest = __reduce_max_sync(ALL, largest);
  if (lane == 0) {
    s.least[warp] = least;
    s.largest[warp] = largest;
  }
  __syncthreads();
  least = __reduce_min_sync(ALL, lane < THREADS / 32 ? s.least[lane] : ALL);
  largest = __reduce_max_sync(ALL, lane < THREADS / 32 ? s.largest[lane] : 0u);
  Key low = (Key)least << 32, high = (Key)largest << 32 | ALL;  // all reach low, at most one reaches high
  for (int turn = 0;; turn ^= 1) {
    const Key middle = low + (high - low) / 2;
    int mine = 0;
    for (int i = tid; i < n; i += THREADS) mine += at(i) >= middle ? 1 : 0;
    mine = __reduce_add_sync(ALL, mine);
    if (lane == 0) s.parts[turn][warp] = mine;
    __syncthreads();
    const int count = __reduce_add_sync(ALL, lane < THREADS / 32 ? s.parts[turn][lane] : 0);
    if (count > most) {
      low = middle;
    } else if (count < 64) {
      high = middle;
    } else {
      return middle;
    }
  }
}

// The row's answer; the maxima of its groups lie in the pool.
template <int THREADS>
__device__ __forceinline__ void finish(const float* __restrict__ in, int N, int groups, Key* pool, Scratch& s,
                                       float* values, int* indices) {
  const int tid = threadIdx.x, lane = tid % 32;
  if (tid == 0) s.groups = s.found = s.left = 0;
  __syncthreads();
  const unsigned* maxima = (const unsigned*)pool;
  const auto group_key = [&](int g) { return (Key)maxima[g] << 32 | (unsigned)~g; };
  Key bound = 0;
  if (groups > MOST_GROUPS) bound = threshold<THREADS>(group_key, groups, MOST_GROUPS, s);
  for (int g = tid; g < groups; g += THREADS) {
    if (group_key(g) >= bound) s.chosen[atomicAdd(&s.groups, 1)] = g;
  }
  __syncthreads();  // from here on the pool holds candidates

  const int total = s.groups * GROUP;
  const unsigned least = (unsigned)(bound >> 32);
  for (int base = 0; base < total; base += 2 * THREADS) {
    int n[2];
    float v[2];
#pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int e = base + u * THREADS + tid;
      n[u] = e < total ? s.chosen[e / GROUP] * GROUP + e % GROUP : N;
      v[u] = n[u] < N ? in[n[u]] : 0.0f;
    }
#pragma unroll
    for (int u = 0; u < 2; ++u) {
      const unsigned k = ordered(v[u]);
      const bool good = n[u] < N && k >= least;
      const unsigned votes = __ballot_sync(ALL, good);
      if (votes != 0u) {
        int slot = 0;
        if (lane == 0) slot = atomicAdd(&s.found, __popc(votes));
        slot = __shfl_sync(ALL, slot, 0) + __popc(votes & ((1u << lane) - 1u));
        if (good) pool[slot] = (Key)k << 32 | (unsigned)~n[u];
      }
    }
  }
  __syncthreads();

  int count = s.found;
  const Key* list = pool;
  if (count > MOST_KEPT) {
    const auto key = [&](int i) { return pool[i]; };
    const Key limit = threshold<THREADS>(key, count, MOST_KEPT, s);
    for (int i = tid; i < count; i += THREADS) {
      const Key k = pool[i];
      if (k >= limit) s.kept[atomicAdd(&s.left, 1)] = k;
    }
    __syncthreads();
    count = s.left;
    list = s.kept;
  }
  constexpr int SHARE = THREADS / MOST_KEPT;  // threads that rank one key together
  const int i = tid / SHARE;
  const Key mine = i < count ? list[i] : 0;
  int rank = 0;
  for (int j = tid % SHARE; j < count; j += SHARE) rank += list[j] > mine ? 1 : 0;
#pragma unroll
  for (int step = SHARE / 2; step > 0; step /= 2) rank += __shfl_xor_sync(ALL, rank, step);
  if (tid % SHARE == 0 && i < count && rank < 64) {
    values[rank] = value_of((unsigned)(mine >> 32));
    indices[rank] = (int)~(unsigned)mine;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    topk_scan(const float* __restrict__ x, unsigned* maxima, float* values, int* indices, int N) {
  extern __shared__ Key pool[];
  __shared__ Scratch scratch;
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  const int row = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32, splits = gridDim.y;
  const int groups = (N + GROUP - 1) / GROUP, per = (groups + splits - 1) / splits;
  const int begin = (int)blockIdx.y * per * GROUP, end = min(N, begin + per * GROUP);
  const float* in = x + (size_t)row * N;
  unsigned* to = splits == 1 ? (unsigned*)pool : maxima + (size_t)row * groups;
  const bool packed = N % 4 == 0;
  for (int base = begin + warp * (128 * LOADS); base < end; base += BLOCK * 4 * LOADS) {
    float most[LOADS];
    if (packed) {
      float4 four[LOADS];
#pragma unroll
      for (int u = 0; u < LOADS; ++u) {
        const int n = base + u * 128 + lane * 4;
        four[u] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        if (n < end) four[u] = *(const float4*)(in + n);
      }
#pragma unroll
      for (int u = 0; u < LOADS; ++u) {
        most[u] = fmaxf(fmaxf(four[u].x, four[u].y), fmaxf(four[u].z, four[u].w));
      }
    } else {
#pragma unroll
      for (int u = 0; u < LOADS; ++u) {
        const int n = base + u * 128 + lane * 4;
        most[u] = -INFINITY;
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (n + e < end) most[u] = fmaxf(most[u], in[n + e]);
        }
      }
    }
#pragma unroll
    for (int u = 0; u < LOADS; ++u) {
#pragma unroll
      for (int step = GROUP / 8; step > 0; step /= 2) most[u] = fmaxf(most[u], __shfl_xor_sync(ALL, most[u], step));
      const int n = base + u * 128 + lane * 4;
      if (lane % (GROUP / 4) == 0 && n < end) to[n / GROUP] = ordered(most[u]);
    }
  }
  if (splits > 1) return;
  finish<BLOCK>(in, N, groups, pool, scratch, values + (size_t)row * 64, indices + (size_t)row * 64);
}

// Rows that several blocks have shared.
extern "C" __global__ void __launch_bounds__(1024)
    topk_choose(const float* __restrict__ x, const unsigned* maxima, float* values, int* indices, int N, int splits) {
  extern __shared__ Key pool[];
  __shared__ Scratch scratch;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (splits == 1) return;
  const int row = blockIdx.x, groups = (N + GROUP - 1) / GROUP;
  const unsigned* from = maxima + (size_t)row * groups;
  unsigned* to = (unsigned*)pool;
#pragma unroll 4
  for (int g = threadIdx.x; g < groups; g += 1024) to[g] = __ldcg(from + g);
  finish<1024>(x + (size_t)row * N, N, groups, pool, scratch, values + (size_t)row * 64, indices + (size_t)row * 64);
}
