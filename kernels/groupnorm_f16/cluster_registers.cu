/* kernelwright
{
  "problem": "groupnorm_f16",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "a cluster takes eight groups of an image and keeps them in registers: read once, written once",
  "tunables": {"CLUSTER": [8, 4, 2], "BLOCK": [256, 320, 512], "KEEP": [21, 16, 8], "RESIDENT": [2, 1]},
  "constraints": ["BLOCK * KEEP <= 6144"],
  "launches": [
    {"kernel": "groupnorm", "grid": ["4 * CLUSTER", "B", 1], "block": ["BLOCK", 1, 1], "cluster": ["CLUSTER", 1, 1],
     "args": ["x", "w", "bias", "y", "HW", "C", "eps", "ceil_div(HW, CLUSTER)"]}
  ]
}
*/
// y[b, i, c] = (x[b, i, c] - mean) / sqrt(var + eps) * w[c] + bias[c] with the mean and variance of the HW * C / 32
// elements of image b in c's group of C / 32 channels; x, y: [B, HW, C], w, bias: [C].
//
// Eight groups are C / 4 channels, which is a whole number of 16 bytes. A cluster of CLUSTER blocks takes such a slice
// of one image, each block a range of its pixels. A thread owns eight channels of every teams-th pixel and keeps KEEP
// of these packs in registers, so that small images are read once; packs beyond those are read again in each pass. A
// block takes the mean of each group over its pixels, then the squared differences from it; the blocks exchange both
// through distributed shared memory and merge them (Chan, Golub and LeVeque, 1979), so that no sum of squares cancels.
#include <cuda_fp16.h>

struct __align__(16) Eight {
  __half2 two[4];
};

__device__ __forceinline__ Eight load(const uint4* from) {
  Eight eight;
  *(uint4*)&eight = __ldcs(from);
  return eight;
}

// Of the block of this rank in the cluster: what lies at `own` here.
__device__ __forceinline__ float2 read_at_rank(const float2* own, unsigned rank) {
  unsigned address = (unsigned)__cvta_generic_to_shared(own);
  float2 value;
  asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(address) : "r"(rank));
  asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];" : "=f"(value.x), "=f"(value.y) : "r"(address) : "memory");
  return value;
}

// channels: [teams, 8, size]. Warp g adds up those of group g; its lanes get the sum.
__device__ __forceinline__ float group_sum(const float* channels, int teams, int size) {
  const int group = threadIdx.x / 32;
  float sum = 0.0f;
  for (int i = threadIdx.x % 32; i < teams * size; i += 32) {
    const int team = i / size;
    sum += channels[(8 * team + group) * size + i - team * size];
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  return sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
    groupnorm(const __half* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ bias,
              __half* __restrict__ y, int HW, int C, float eps, int rows) {
  __shared__ __align__(16) float channels[8 * BLOCK];
  __shared__ float means[8], centers[8], scales[8];
  __shared__ __align__(8) float2 exchanged[8];  // mean and squares of this block's groups
  const int size = C / 32, stride = C / 8;      // channels of a group, which is packs of a slice; packs of a pixel
  const int teams = BLOCK / size, team = threadIdx.x / size, pack = threadIdx.x - team * size;
  const int slice = blockIdx.x / CLUSTER, rank = blockIdx.x % CLUSTER;
  const int first = rank * rows, count = max(0, min(rows, HW - first));   // this block's pixels
  const int own = team < teams ? (count - team + teams - 1) / teams : 0;  // this thread's
  const size_t start = ((size_t)blockIdx.y * HW + first + team) * stride + slice * size + pack;
  const int step = teams * stride;  // an image has fewer than 2^31 packs
  const uint4* in = (const uint4*)x + start;
  uint4* out = (uint4*)y + start;
  float* mine = channels + 8 * (team * size + pack);  // where a team has no part, it writes nothing

  Eight kept[KEEP];
#pragma unroll
  for (int k = 0; k < KEEP; ++k) {
    *(uint4*)&kept[k] = make_uint4(0, 0, 0, 0);
    if (k < own) kept[k] = load(in + k * step);
  }
  float sums[8] = {};
#pragma unroll 1
  for (int k = KEEP; k < own; ++k) {
    const Eight eight = load(in + k * step);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float2 v = __half22float2(eight.two[e]);
      sums[2 * e] += v.x;
      sums[2 * e + 1] += v.y;
    }
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) {
#pragma unroll
    for (int k = 0; k < KEEP; ++k) {  // absent pixels are zeros
      const float2 v = __half22float2(kept[k].two[e]);
      sums[2 * e] += v.x;
      sums[2 * e + 1] += v.y;
    }
    if (team < teams) *(float2*)(mine + 2 * e) = make_float2(sums[2 * e], sums[2 * e + 1]);
  }
  __syncthreads();
  if (threadIdx.x < 256) {
    const float sum = group_sum(channels, teams, size);
    if (threadIdx.x % 32 == 0) means[threadIdx.x / 32] = count > 0 ? sum / ((float)count * size) : 0.0f;
  }
  __syncthreads();

#pragma unroll
  for (int e = 0; e < 8; ++e) sums[e] = 0.0f;
#pragma unroll 1
  for (int k = KEEP; k < own; ++k) {
    const Eight eight = load(in + k * step);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float2 v = __half22float2(eight.two[e]);
      const float a = v.x - means[(8 * pack + 2 * e) / size], b = v.y - means[(8 * pack + 2 * e + 1) / size];
      sums[2 * e] += a * a;
      sums[2 * e + 1] += b * b;
    }
  }
  if (team < teams) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float mean_a = means[(8 * pack + 2 * e) / size], mean_b = means[(8 * pack + 2 * e + 1) / size];
#pragma unroll
      for (int k = 0; k < KEEP; ++k) {
        const float2 v = __half22float2(kept[k].two[e]);
        if (k < own) {
          sums[2 * e] += (v.x - mean_a) * (v.x - mean_a);
          sums[2 * e + 1] += (v.y - mean_b) * (v.y - mean_b);
        }
      }
      *(float2*)(mine + 2 * e) = make_float2(sums[2 * e], sums[2 * e + 1]);
    }
  }
  __syncthreads();
  if (threadIdx.x < 256) {
    const float sum = group_sum(channels, teams, size);
    if (threadIdx.x % 32 == 0) exchanged[threadIdx.x / 32] = make_float2(means[threadIdx.x / 32], sum);
  }
  asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");  // all blocks' groups are there
  if (threadIdx.x < 8) {
    float2 parts[CLUSTER];
    float mean = 0.0f, squares = 0.0f;
#pragma unroll
    for (int r = 0; r < CLUSTER; ++r) {
      parts[r] = read_at_rank(exchanged + threadIdx.x, r);
      mean += parts[r].x * max(0, min(rows, HW - r * rows));
    }
    mean /= HW;
#pragma unroll
    for (int r = 0; r < CLUSTER; ++r) {
      const float pixels = max(0, min(rows, HW - r * rows)), difference = parts[r].x - mean;
      squares += parts[r].y + difference * difference * pixels * size;
    }
    centers[threadIdx.x] = mean;
    scales[threadIdx.x] = rsqrtf(squares / ((float)HW * size) + eps);
  }
  __syncthreads();
  asm volatile("barrier.cluster.arrive;" ::: "memory");  // this block has read the others' groups

  if (team < teams) {
    const __half2* w2 = (const __half2*)(w + 8 * (slice * size + pack));
    const __half2* bias2 = (const __half2*)(bias + 8 * (slice * size + pack));
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int a = (8 * pack + 2 * e) / size, b = (8 * pack + 2 * e + 1) / size;
      const float2 weight = __half22float2(w2[e]), shift = __half22float2(bias2[e]);
      const float mean_a = centers[a], mean_b = centers[b], factor_a = scales[a] * weight.x,
                  factor_b = scales[b] * weight.y;
#pragma unroll
      for (int k = 0; k < KEEP; ++k) {
        const float2 v = __half22float2(kept[k].two[e]);
        kept[k].two[e] = __floats2half2_rn((v.x - mean_a) * factor_a + shift.x, (v.y - mean_b) * factor_b + shift.y);
      }
    }
#pragma unroll
    for (int k = 0; k < KEEP; ++k) {
      if (k < own) __stcs(out + k * step, *(const uint4*)&kept[k]);
    }
#pragma unroll 1
    for (int k = KEEP; k < own; ++k) {
      Eight eight = load(in + k * step);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int a = (8 * pack + 2 * e) / size, b = (8 * pack + 2 * e + 1) / size;
        const float2 v = __half22float2(eight.two[e]), weight = __half22float2(w2[e]), shift = __half22float2(bias2[e]);
        eight.two[e] = __floats2half2_rn((v.x - centers[a]) * (scales[a] * weight.x) + shift.x,
                                         (v.y - centers[b]) * (scales[b] * weight.y) + shift.y);
      }
      __stcs(out + k * step, *(const uint4*)&eight);
    }
  }
  asm volatile("barrier.cluster.wait;" ::: "memory");  // no block leaves while another may read from it
}
