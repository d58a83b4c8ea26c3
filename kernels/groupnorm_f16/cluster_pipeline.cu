/* kernelwright
{
  "problem": "groupnorm_f16",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "persistent clusters take slices of images through a ring in shared memory: read once",
  "tunables": {"CLUSTER": [4, 8, 16], "WORKERS": [320, 640], "GROUPS": [8, 16], "ITEMS": [4, 2]},
  "constraints": ["40 * GROUPS <= WORKERS"],
  "launches": [
    {"kernel": "groupnorm", "block": ["WORKERS + WORKERS / 5", 1, 1], "shared_bytes": "16 * WORKERS * 21",
     "cluster": ["2 + (CLUSTER - 2) * (HW * C > 81920) + (640 * GROUPS / WORKERS - CLUSTER) * (HW * C > 1638400)"],
     "grid": ["2 + (CLUSTER - 2) * (HW * C > 81920) + (640 * GROUPS / WORKERS - CLUSTER) * (HW * C > 1638400)",
              "min(B * 32 / GROUPS * (1 + (C >= 512) * (C % 64 == 0)), 81920 / WORKERS / CLUSTER)"],
     "args": ["x", "w", "bias", "y", "B", "HW", "C", "eps"]}
  ]
}
*/
// y[b, i, c] = (x[b, i, c] - mean) / sqrt(var + eps) * w[c] + bias[c] with the mean and variance of the HW * C / 32
// elements of image b in c's group of C / 32 channels; x, y: [B, HW, C], w, bias: [C].
//
// A slice is GROUPS groups of an image, or half as many where C has 512 channels and more, so that its pixels are whole
// packs of 16 bytes. A cluster takes one slice after another, each of its blocks a range of the pixels. A worker owns
// one pack of every teams-th pixel. It copies its packs with cp.async into its own places of a ring of 20 packs, waits
// for no other warp's, and refills a stage of ITEMS packs as soon as it has no use for them, also with the next
// slice's: copies go on during the statistics and the exchange. The ring keeps a slice from its statistics until it is
// normalised, so that x is read once; of a slice that is longer than the ring, the first stages are read again, from
// the second-level cache where they still are: all other copies are marked as what it gives up first. Images that are
// too large for CLUSTER blocks take clusters of 640 * GROUPS workers, small ones take two blocks.
//
// Statistics are sums of differences from a pivot, which is an element of the same group: each thread's first one. A
// pivot among n elements is at most sqrt(n) standard deviations from their mean, so that sums of squares do not cancel.
// Further warps merge the threads' means and squares in the same way and exchange them between the blocks: these warps
// have no accesses to global memory for which the fence before the exchange would wait.
//
// Measured on one H200 on 2026-11-28, cold caches, median: 74.6 us at 32x4096x320, 49 % of the bound, and 41.6 us at
// 2x16384x640, 44 %.
#include <cuda_fp16.h>

#include <kw/cluster.cuh>
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/warpgroup.cuh>

constexpr int kReducers = WORKERS / 160;  // warps
constexpr int kThreads = WORKERS + 32 * kReducers;
constexpr int kResident = 640 / WORKERS;  // blocks of a multiprocessor
constexpr int kStages = 20 / ITEMS;
constexpr int kSpare = (3 + ITEMS - 1) / ITEMS;  // stages that give way to the parts of small groups
constexpr int kEntered = 1, kMerged = 2;         // named barriers
constexpr unsigned kAll = 0xffffffffu;
// Policies of the second-level cache as createpolicy makes them: evict_first, evict_normal.
constexpr unsigned long long kOnce = 0x12f0000000000000, kTwice = 0x1000000000000000;

struct __align__(16) Eight {
  __half2 two[4];
};

__device__ __forceinline__ void widen(uint4 packed, float (&values)[8]) {
  Eight eight;
  *(uint4*)&eight = packed;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const float2 v = __half22float2(eight.two[e]);
    values[2 * e] = v.x;
    values[2 * e + 1] = v.y;
  }
}

__device__ __forceinline__ void copy(unsigned to, const uint4* from, unsigned long long policy) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "l"(policy)
               : "memory");
}
// This thread's arrival, when its copies so far are there.
__device__ __forceinline__ void arrive_when_copied(unsigned barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// To other blocks of the cluster, by mapped addresses.
__device__ __forceinline__ void send(unsigned to, float2 value) {
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(value.x), "f"(value.y) : "memory");
}
__device__ __forceinline__ void arrive_behind_sent(unsigned barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void wait_for_sent(unsigned barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
// At the barrier of the cluster. It publishes nothing but what a fence did: here, mbarriers.
__device__ __forceinline__ void arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

// Parts of elements, each with its mean and its squared differences from it, become one part.
struct Merge {
  float pivot, sum = 0.0f, squares = 0.0f;
  __device__ __forceinline__ explicit Merge(float near) : pivot(near) {}
  __device__ __forceinline__ void add(float2 part, float elements) {
    const float difference = part.x - pivot;
    sum += elements * difference;
    squares += part.y + elements * difference * difference;
  }
  // The parts of all lanes of a warp; inverse: of the number of their elements.
  __device__ __forceinline__ float2 finish(float inverse) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      sum += __shfl_xor_sync(kAll, sum, step);
      squares += __shfl_xor_sync(kAll, squares, step);
    }
    const float shift = sum * inverse;
    return make_float2(pivot + shift, fmaxf(squares - sum * shift, 0.0f));
  }
};

// How slices are spread over clusters, and a block's pixels over its workers.
struct Layout {
  int size, groups, packs, teams, stages;  // channels of a group; groups and packs of a slice
  int slices, shift;                       // of all images; an image has 1 << shift
  int rows, count;                         // pixels of a block, and of this one
  __device__ __forceinline__ Layout(int B, int HW, int C) {
    const bool narrow = C >= 512 && C % 64 == 0;
    size = C / 32;
    groups = narrow ? GROUPS / 2 : GROUPS;
    packs = groups * size / 8;
    teams = WORKERS / packs;
    stages = size < 8 ? kStages - kSpare : kStages;
    shift = (GROUPS == 16 ? 1 : 2) + narrow;
    slices = B << shift;
    rows = (HW + gridDim.x - 1) / gridDim.x;
    count = pixels(blockIdx.x, HW);
  }
  __device__ __forceinline__ int pixels(int block, int HW) const { return max(0, min(rows, HW - block * rows)); }
  __device__ __forceinline__ int own(int team) const { return (count - team + teams - 1) / teams; }  // team's pixels
};

// ring: [stages, ITEMS, WORKERS]; parts: [parts of a pack, WORKERS]: mean and squares; full: this warp's barriers.
__device__ __forceinline__ void work(const Layout& in, uint4* ring, float2* parts, unsigned full, const float2* merged,
                                     const uint4* x, const uint4* w, const uint4* bias, uint4* y, int HW, int C) {
  const int team = threadIdx.x / in.packs, pack = threadIdx.x - team * in.packs;
  const int own = team < in.teams ? in.own(team) : 0;
  const int step = in.teams * (C / 8);                  // to this thread's next pixel
  const int batches = (in.own(0) + ITEMS - 1) / ITEMS;  // of a slice, the same for all threads of the block
  const int kept = min(batches, in.stages), again = batches - kept;
  ring += threadIdx.x;
  unsigned starts = 0;  // bit e: channel e of the pack is the first of its group
#pragma unroll
  for (int e = 0; e < 8; ++e) starts |= (unsigned)((8 * pack + e) % in.size == 0) << e;
  merged += 8 * pack / in.size;

  const int offset = (blockIdx.x * in.rows + team) * (C / 8) + pack;
  const auto start_of = [&](int slice) {
    const int image = slice >> in.shift, part = slice - (image << in.shift);
    return (size_t)image * HW * (C / 8) + part * in.packs + offset;
  };
  // The next copies: all batches of a slice, then the first ones again.
  int slice_ahead = blockIdx.y, batch_ahead = 0, pixel_ahead = 0;
  const uint4* from = x + start_of(slice_ahead);
  const auto refill = [&](int stage) {
    if (slice_ahead >= in.slices) return;
    const unsigned long long policy = batch_ahead < again ? kTwice : kOnce;
    const unsigned to = kw::shared_address(ring + stage * ITEMS * WORKERS);
    if (pixel_ahead + ITEMS <= own) {
#pragma unroll
      for (int k = 0; k < ITEMS; ++k) copy(to + 16 * k * WORKERS, from + k * step, policy);
    } else {
#pragma unroll 1
      for (int k = 0; k < own - pixel_ahead; ++k) copy(to + 16 * k * WORKERS, from + k * step, policy);
    }
    arrive_when_copied(full + 8 * stage);
    ++batch_ahead;
    pixel_ahead += ITEMS;
    from += ITEMS * step;
    if (batch_ahead == batches || batch_ahead == batches + again) {
      if (batch_ahead == batches + again) {
        batch_ahead = 0;
        slice_ahead += gridDim.y;
      }
      pixel_ahead = 0;
      from = x + start_of(slice_ahead);
    }
  };
  for (int stage = 0; stage < in.stages; ++stage) refill(stage);

  int stage = 0, phase = 0;
  const auto advance = [&] {
    if (++stage == in.stages) {
      stage = 0;
      phase ^= 1;
    }
  };
  for (int slice = blockIdx.y; slice < in.slices; slice += gridDim.y) {
    float pivot[8] = {}, sums[8] = {}, squares[8] = {};
    const auto add = [&](uint4 packed) {
      float values[8];
      widen(packed, values);
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        const float difference = values[e] - pivot[e];
        sums[e] += difference;
        squares[e] += difference * difference;
      }
    };
    for (int batch = 0; batch < batches; ++batch) {
      kw::mbarrier::wait(full + 8 * stage, phase);
      const uint4* packed = ring + stage * ITEMS * WORKERS;
      if (batch == 0 && own > 0) {
        widen(*packed, pivot);
#pragma unroll
        for (int e = 1; e < 8; ++e) pivot[e] = starts >> e & 1 ? pivot[e] : pivot[e - 1];
      }
      if ((batch + 1) * ITEMS <= own) {
#pragma unroll
        for (int k = 0; k < ITEMS; ++k) add(packed[k * WORKERS]);
      } else {
#pragma unroll 1
        for (int k = 0; k < own - batch * ITEMS; ++k) add(packed[k * WORKERS]);
      }
      if (batch < again) refill(stage);
      advance();
    }
    const float inverse = own > 0 ? 1.0f / own : 0.0f;
    float sum = 0.0f, square = 0.0f, width = 0.0f;
    float2* part = parts + threadIdx.x;
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      sum += sums[e];
      square += squares[e];
      width += 1.0f;
      if (e == 7 || (starts >> (e + 1) & 1)) {
        const float shift = __fdividef(sum * inverse, width);
        *part = make_float2(pivot[e] + shift, square - sum * shift);
        part += WORKERS;
        sum = square = width = 0.0f;
      }
    }
    kw::warpgroup::arrive<kThreads>(kEntered);
    const int first = (slice - (slice >> in.shift << in.shift)) * in.packs + pack;
    float center[8], factor[8], shift[8];
    widen(__ldg(w + first), factor);
    widen(__ldg(bias + first), shift);
    kw::warpgroup::sync<kThreads>(kMerged);
    const float2* group = merged;
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      if (e > 0 && (starts >> e & 1)) ++group;
      center[e] = group->x;
      factor[e] *= group->y;
    }

    uint4* const out = y + start_of(slice);
    const auto normalise = [&](uint4 packed, uint4* to) {
      float values[8];
      widen(packed, values);
      Eight eight;
#pragma unroll
      for (int e = 0; e < 8; e += 2) {
        eight.two[e / 2] = __floats2half2_rn((values[e] - center[e]) * factor[e] + shift[e],
                                             (values[e + 1] - center[e + 1]) * factor[e + 1] + shift[e + 1]);
      }
      __stcs(to, *(const uint4*)&eight);
    };
    const auto finish = [&](int stage, int batch) {
      const uint4* packed = ring + stage * ITEMS * WORKERS;
      uint4* const to = out + batch * ITEMS * step;
      if ((batch + 1) * ITEMS <= own) {
#pragma unroll
        for (int k = 0; k < ITEMS; ++k) normalise(packed[k * WORKERS], to + k * step);
      } else {
#pragma unroll 1
        for (int k = 0; k < own - batch * ITEMS; ++k) normalise(packed[k * WORKERS], to + k * step);
      }
      refill(stage);
    };
    int old = stage - kept + (stage < kept ? in.stages : 0);
    for (int batch = again; batch < batches; ++batch) {
      finish(old, batch);
      if (++old == in.stages) old = 0;
    }
    for (int batch = 0; batch < again; ++batch) {
      kw::mbarrier::wait(full + 8 * stage, phase);
      finish(stage, batch);
      advance();
    }
  }
}

// exchanged: [2, GROUPS, 16 blocks]; arrived: two barriers, because a block may be one slice ahead.
__device__ __forceinline__ void reduce(const Layout& in, const float2* parts, float2* exchanged, unsigned arrived,
                                       float2* merged, int HW, float eps) {
  const int warp = (threadIdx.x - WORKERS) / 32, lane = threadIdx.x % 32, cluster = gridDim.x;
  const float block_inverse = in.count > 0 ? 1.0f / ((float)in.count * in.size) : 0.0f;
  const float inverse = 1.0f / ((float)HW * in.size);
  int parity = 0, phase = 0;
  for (int slice = blockIdx.y; slice < in.slices; slice += gridDim.y) {
    kw::warpgroup::sync<kThreads>(kEntered);
    for (int group = warp; group < in.groups; group += kReducers) {
      const int low = group * in.size, high = low + in.size;  // channels
      const float2* own = parts + (group - low / 8 * 8 / in.size) * WORKERS;
      Merge merge(own[low / 8].x);
      for (int pack = low / 8; 8 * pack < high; ++pack) {
        const float width = min(8 * pack + 8, high) - max(8 * pack, low);
        for (int team = lane; team < in.teams; team += 32) merge.add(own[team * in.packs + pack], width * in.own(team));
        own = parts;  // the group is the first in the packs that follow
      }
      const float2 result = merge.finish(block_inverse);
      float2* const to = exchanged + (GROUPS * parity + group) * 16 + blockIdx.x;
      if (lane < cluster) send(kw::cluster::map(kw::shared_address(to), lane), result);
    }
    if (lane < cluster) arrive_behind_sent(kw::cluster::map(arrived + 8 * parity, lane));
    __syncwarp();
    wait_for_sent(arrived + 8 * parity, phase);
    for (int group = warp; group < in.groups; group += kReducers) {
      const float2* blocks = exchanged + (GROUPS * parity + group) * 16;
      Merge merge(blocks[0].x);
      if (lane < cluster) merge.add(blocks[lane], (float)in.pixels(lane, HW) * in.size);
      const float2 result = merge.finish(inverse);
      if (lane == 0) merged[group] = make_float2(result.x, rsqrtf(result.y * inverse + eps));
    }
    kw::warpgroup::arrive<kThreads>(kMerged);
    phase ^= parity;
    parity ^= 1;
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, kResident)
    groupnorm(const __half* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ bias,
              __half* __restrict__ y, int B, int HW, int C, float eps) {
  extern __shared__ uint4 ring[];
  __shared__ float2 exchanged[2 * GROUPS * 16], merged[GROUPS];
  __shared__ __align__(8) unsigned long long barriers[2 + WORKERS / 32 * kStages];
  const Layout layout(B, HW, C);
  float2* const parts = (float2*)(ring + layout.stages * ITEMS * WORKERS);
  const unsigned arrived = kw::shared_address(barriers), full = arrived + 16 + 8 * (threadIdx.x / 32) * kStages;
  if (threadIdx.x < WORKERS && threadIdx.x % 32 == 0) {
    for (int stage = 0; stage < kStages; ++stage) kw::mbarrier::init(full + 8 * stage, 32);
  }
  if (threadIdx.x == 0) {
    kw::mbarrier::init(arrived, kReducers * gridDim.x);
    kw::mbarrier::init(arrived + 8, kReducers * gridDim.x);
    kw::mbarrier::fence_init();
  }
  __syncwarp();
  arrive_relaxed();
  if (threadIdx.x < WORKERS) {
    work(layout, ring, parts, full, merged, (const uint4*)x, (const uint4*)w, (const uint4*)bias, (uint4*)y, HW, C);
    kw::cluster::wait<CLUSTER>();
  } else {
    kw::cluster::wait<CLUSTER>();  // the other blocks' barriers are there
    reduce(layout, parts, exchanged, arrived, merged, HW, eps);
  }
  arrive_relaxed();
  kw::cluster::wait<CLUSTER>();  // no block leaves while another may send to it
}
