/* kernelwright
{
  "problem": "groupnorm_f16",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "persistent teams of blocks per image; tiles stay in a ring in shared memory between statistics and normalisation",
  "tunables": {"SMS": [132, 264], "CONSUMERS": [640, 320, 960, 480], "UNROLL": [2, 4, 1], "STAGES": [10, 5, 20, 8, 13, 4]},
  "constraints": ["ceil_div(SMS, 132) * (STAGES * UNROLL * CONSUMERS * 16 + CONSUMERS * 40 + 2048) <= 233472",
                  "STAGES * UNROLL * CONSUMERS * 16 + CONSUMERS * 40 + 1024 <= 232448",
                  "ceil_div(SMS, 132) * (CONSUMERS + 32) <= 1056"],
  "workspace": {"partials": {"bytes": "256 * B * SMS"}, "done": {"bytes": "4 * B"}},
  "launches": [
    {"kernel": "groupnorm", "grid": ["SMS", 1, 1], "block": ["CONSUMERS + 32", 1, 1], "cooperative": true,
     "shared_bytes": "STAGES * UNROLL * CONSUMERS * 16 + CONSUMERS * 32",
     "args": ["x", "w", "bias", "y", "partials", "done", "B", "HW", "C", "eps"]}
  ]
}
*/
// y[b, i, c] = (x[b, i, c] - mean[b, g]) * rsqrt(var[b, g] + eps) * w[c] + bias[c], g = c / (C / 32); x, y: [B, HW, C].
//
// All blocks of a cooperative grid are resident. They form teams, each for one image at a time, and a block owns a run of
// its image's pixels. A producer warp copies tiles of pixels into a ring in shared memory; where a block's part of the
// image fits the ring, x is read from global memory once, and the next image's tiles come while this one is normalised.
// Each thread sums the same eight channels over its pixels, relative to the first pixel and then to the mean so far, so
// that a large offset does not cancel. A block adds its part's mean and squared deviations to `partials` and counts
// itself in `done`; once all parts of an image are there, each block joins them and normalises its own.
//
// Found by a language model from the prompt alone (prompts/transcripts/h200_strategies.jsonl). Measured on one H200 on
// 2026-11-26, cold caches, median: 75.5 us at 32x4096x320, where chunks_of_rows takes 97.1 us.
#include <cooperative_groups.h>
#include <cuda_fp16.h>

#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

constexpr int kWarps = CONSUMERS / 32;
constexpr int kSlot = 16 * UNROLL * CONSUMERS;
constexpr int kBlocks = (SMS + 131) / 132;  // of a multiprocessor
constexpr unsigned kAll = 0xffffffffu;

// The consumers meet; the producer's warp does not take part.
__device__ __forceinline__ void meet() { asm volatile("bar.sync 1, %0;" ::"n"(CONSUMERS) : "memory"); }

__device__ __forceinline__ int acquire(const int* at) {
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

__device__ __forceinline__ void unpack(uint4 v, float (&f)[8]) {
  const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 two = __half22float2(*(const __half2*)&words[i]);
    f[2 * i] = two.x;
    f[2 * i + 1] = two.y;
  }
}

__device__ __forceinline__ unsigned pack(float a, float b) {
  const __half2 two = __floats2half2_rn(a, b);
  return *(const unsigned*)&two;
}

// The sum over a group's channels and all rows of scratch [rows, C]; by a warp.
__device__ __forceinline__ float group_total(const float* scratch, int g, int size, int rows, int C, float inverse_size) {
  float sum = 0.0f;
  for (int e = threadIdx.x % 32; e < rows * size; e += 32) {
    const int r = (int)(((float)e + 0.5f) * inverse_size);
    sum += scratch[r * (C - size) + g * size + e];
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(kAll, sum, step);
  return sum;
}

// How many teams the blocks form: each lane estimates one number's time. All warps find the same.
__device__ __forceinline__ int choose_teams(int B, int HW, int C, int tile) {
  const int lane = threadIdx.x % 32;
  int teams = lane < 16 ? lane + 1 : SMS / (lane - 15);
  const int members = SMS / teams, pixels = (HW + members - 1) / members, rounds = (B + teams - 1) / teams;
  const int tiles = (pixels + tile - 1) / tile;
  float cost = (float)rounds * (2.0f * (float)pixels * (float)C * (tiles <= STAGES ? 1.0f : 1.5f) +
                                (2 * tiles <= STAGES ? 4096.0f : 16384.0f));
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const float other_cost = __shfl_xor_sync(kAll, cost, step);
    const int other = __shfl_xor_sync(kAll, teams, step);
    if (other_cost < cost || (other_cost == cost && other < teams)) {
      cost = other_cost;
      teams = other;
    }
  }
  return teams;
}

extern "C" __global__ void __launch_bounds__(CONSUMERS + 32, kBlocks)
    groupnorm(const __half* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ bias,
              __half* __restrict__ y, float2* partials, int* done, int B, int HW, int C, float eps) {
  extern __shared__ __align__(128) unsigned char ring[];
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
  __shared__ float means[32];
  __shared__ float2 merged[kWarps][32];
  float* scratch = (float*)(ring + STAGES * kSlot);  // [R, C]

  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int packs = C / 8, size = C / 32, R = CONSUMERS / packs, tile_pixels = UNROLL * R;
  const int teams = choose_teams(B, HW, C, tile_pixels), members = SMS / teams;
  const int team = (int)blockIdx.x / members, rank = (int)blockIdx.x - team * members;
  const int pixels = (HW + members - 1) / members, parts = (HW + pixels - 1) / pixels;
  const int first = rank * pixels;
  const int mine = team < teams ? max(0, min(pixels, HW - first)) : 0;  // this block's pixels of each image
  const int images = mine > 0 && team < B ? (B - team + teams - 1) / teams : 0;
  const int tiles = (mine + tile_pixels - 1) / tile_pixels;
  const bool resident = tiles <= STAGES;
  const int ahead = 2 * tiles <= STAGES ? 1 : 0;
  const int span = resident ? tiles : 2 * tiles;  // what an image takes of the ring
  const int total = images * span;
  const size_t image_size = (size_t)HW * C;
  const size_t start = (size_t)team * image_size + (size_t)first * C, stride = (size_t)teams * image_size;
  const unsigned full = kw::shared_address(barriers), empty = full + 8 * STAGES;
  const unsigned ring_address = kw::shared_address(ring);

  const auto produce = [&](int from, int to) {
    for (int at = from; at < to; ++at) {
      const int step = at / span, place = at - step * span, tile = place < tiles ? place : 2 * tiles - 1 - place;
      const int slot = at % STAGES;
      const int bytes = 2 * C * min(tile_pixels, mine - tile * tile_pixels);
      kw::mbarrier::wait(empty + 8 * slot, ((at / STAGES) & 1) ^ 1);
      kw::mbarrier::expect(full + 8 * slot, bytes);
      kw::tma::load_bytes(ring_address + slot * kSlot, x + (start + step * stride + (size_t)(tile * tile_pixels) * C), bytes,
                          full + 8 * slot);
    }
  };
  if (tid == CONSUMERS) {
    for (int s = 0; s < STAGES; ++s) {
      kw::mbarrier::init(full + 8 * s, 1);
      kw::mbarrier::init(empty + 8 * s, kWarps);
    }
    kw::mbarrier::fence_init();
    kw::tma::fence();
    produce(0, min(STAGES, total));
  }
  for (int i = blockIdx.x * (CONSUMERS + 32) + tid; i < B; i += SMS * (CONSUMERS + 32)) done[i] = 0;
  cooperative_groups::this_grid().sync();  // counters are zero and barriers set up, while the first tiles come
  if (warp == kWarps) {
    if (tid == CONSUMERS) produce(min(STAGES, total), total);
    return;
  }
  if (images == 0) return;

  const int row = tid / packs, channel = (tid - row * packs) * 8;
  const bool active = row < R;
  const int hop = R * packs;  // packs of 16 bytes from one of the thread's pixels to the next
  const float inverse_size = 1.0f / (float)size;
  const uint4 w_pack = __ldg((const uint4*)(w + channel)), bias_pack = __ldg((const uint4*)(bias + channel));

  for (int step = 0; step < images + ahead; ++step) {
    if (step < images) {  // statistics of this block's part
      float shift[8], sum[8], square[8];
      float base;  // lane g: the first element of group g, the same in all warps
      {
        const int at = step * span, slot = at % STAGES;
        kw::mbarrier::wait(full + 8 * slot, (at / STAGES) & 1);
        base = __half2float(((const __half*)(ring + slot * kSlot))[lane * size]);
        uint4 v = make_uint4(0, 0, 0, 0);
        if (active && row < mine) v = ((const uint4*)(ring + slot * kSlot))[tid];
        unpack(v, shift);
      }
#pragma unroll
      for (int c = 0; c < 8; ++c) sum[c] = square[c] = 0.0f;
      float count = 0.0f, limit = 16.0f;
      for (int t = 0; t < tiles; ++t) {
        const int at = step * span + t, slot = at % STAGES;
        const int live = active ? min(tile_pixels, mine - t * tile_pixels) - row : 0;
        const uint4* tile = (const uint4*)(ring + slot * kSlot) + tid;
        kw::mbarrier::wait(full + 8 * slot, (at / STAGES) & 1);
        uint4 v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
          v[u] = make_uint4(0, 0, 0, 0);
          if (u * R < live) v[u] = tile[u * hop];
        }
        if (!resident) {
          __syncwarp();
          if (lane == 0) kw::mbarrier::arrive(empty + 8 * slot);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
          if (u * R < live) {
            float f[8];
            unpack(v[u], f);
#pragma unroll
            for (int c = 0; c < 8; ++c) {
              const float d = f[c] - shift[c];
              sum[c] += d;
              square[c] = fmaf(d, d, square[c]);
            }
            count += 1.0f;
          }
        }
        if (count >= limit) {  // the first pixel may be an outlier: go on relative to the mean
          limit *= 16.0f;
          const float inverse = 1.0f / count;
#pragma unroll
          for (int c = 0; c < 8; ++c) {
            const float moved = shift[c] + sum[c] * inverse, d = moved - shift[c];
            square[c] -= d * (2.0f * sum[c] - count * d);
            sum[c] -= count * d;
            shift[c] = moved;
          }
        }
      }

      float of_thread[8];
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        const int g = (int)(((float)(channel + c) + 0.5f) * inverse_size);
        of_thread[c] = fmaf(count, shift[c] - __shfl_sync(kAll, base, g), sum[c]);
      }
      if (active) {
        float4* to = (float4*)(scratch + row * C + channel);
        to[0] = make_float4(of_thread[0], of_thread[1], of_thread[2], of_thread[3]);
        to[1] = make_float4(of_thread[4], of_thread[5], of_thread[6], of_thread[7]);
      }
      meet();
      for (int g = warp; g < 32; g += kWarps) {
        const float all = group_total(scratch, g, size, R, C, inverse_size);
        const float mean = __shfl_sync(kAll, base, g) + all / ((float)mine * (float)size);
        if (lane == 0) means[g] = mean;
      }
      meet();
      const float inverse = count > 0.0f ? 1.0f / count : 0.0f;
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        const int g = (int)(((float)(channel + c) + 0.5f) * inverse_size);
        const float part = sum[c] * inverse, d = (shift[c] - means[g]) + part;
        of_thread[c] = fmaxf(square[c] - sum[c] * part, 0.0f) + count * d * d;
      }
      if (active) {
        float4* to = (float4*)(scratch + row * C + channel);
        to[0] = make_float4(of_thread[0], of_thread[1], of_thread[2], of_thread[3]);
        to[1] = make_float4(of_thread[4], of_thread[5], of_thread[6], of_thread[7]);
      }
      meet();
      const int image = team + step * teams;
      for (int g = warp; g < 32; g += kWarps) {
        const float all = group_total(scratch, g, size, R, C, inverse_size);
        if (lane == 0) partials[((size_t)image * SMS + rank) * 32 + g] = make_float2(means[g], all);
      }
      meet();
      if (tid == 0) {
        __threadfence();
        atomicAdd(done + image, 1);
      }
    }

    if (step >= ahead) {  // normalisation
      const int index = step - ahead, image = team + index * teams;
      if (tid == 0) {
        while (acquire(done + image) < parts) {
        }
      }
      meet();
      const float2* from = partials + (size_t)image * SMS * 32 + lane;  // lane g: group g
      const float pivot = __ldcg(from).x;
      float sum = 0.0f, square = 0.0f;
#pragma unroll 4
      for (int k = warp; k < parts; k += kWarps) {
        const float2 v = __ldcg(from + 32 * k);
        const float n = (float)(min(pixels, HW - k * pixels) * size), d = v.x - pivot;
        sum = fmaf(n, d, sum);
        square += fmaf(n * d, d, v.y);
      }
      merged[warp][lane] = make_float2(sum, square);
      meet();
      sum = 0.0f;
      square = 0.0f;
#pragma unroll 4
      for (int k = 0; k < kWarps; ++k) {
        const float2 v = merged[k][lane];
        sum += v.x;
        square += v.y;
      }
      const float inverse = 1.0f / ((float)HW * (float)size), offset = sum * inverse;
      const float group_mean = pivot + offset;
      const float group_scale = rsqrtf(fmaxf(square * inverse - offset * offset, 0.0f) + eps);

      float mean[8], scale[8], add[8];
      unpack(w_pack, scale);
      unpack(bias_pack, add);
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        const int g = (int)(((float)(channel + c) + 0.5f) * inverse_size);
        mean[c] = __shfl_sync(kAll, group_mean, g);
        scale[c] *= __shfl_sync(kAll, group_scale, g);
      }
      __half* out = y + (start + index * stride);
      for (int j = 0; j < tiles; ++j) {
        const int at = index * span + (resident ? j : tiles + j), slot = at % STAGES;
        const int t = resident ? j : tiles - 1 - j;
        const int live = active ? min(tile_pixels, mine - t * tile_pixels) - row : 0;
        const uint4* tile = (const uint4*)(ring + slot * kSlot) + tid;
        kw::mbarrier::wait(full + 8 * slot, (at / STAGES) & 1);
        uint4 v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
          v[u] = make_uint4(0, 0, 0, 0);
          if (u * R < live) v[u] = tile[u * hop];
        }
        __syncwarp();
        if (lane == 0) kw::mbarrier::arrive(empty + 8 * slot);
        uint4* to = (uint4*)(out + (size_t)(t * tile_pixels) * C) + tid;
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
          if (u * R < live) {
            float f[8];
            unpack(v[u], f);
#pragma unroll
            for (int c = 0; c < 8; ++c) f[c] = fmaf(f[c] - mean[c], scale[c], add[c]);
            __stcs(to + u * hop, make_uint4(pack(f[0], f[1]), pack(f[2], f[3]), pack(f[4], f[5]), pack(f[6], f[7])));
          }
        }
      }
    }
  }
}
