/* kernelwright
{
  "problem": "causal_softmax_f16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "a team of warps per row in registers, zeros stored under the loads, one exchange of maxima and sums",
  "tunables": {"PACKS": [4, 2, 8], "WARPS": [8, 4], "RESIDENT": [32, 24, 40, 48], "KEEP": [1, 0], "STREAM": [0, 1]},
  "launches": [
    {"kernel": "softmax",
     "grid": ["ceil_div(B * S * min(WARPS, 1 + min(1, ceil_div(S, 256 * PACKS) - 1) + 2 * min(1, ceil_div(S, 512 * PACKS) - 1) + 4 * min(1, ceil_div(S, 1024 * PACKS) - 1)), WARPS)", 1, 1],
     "block": ["32 * WARPS", 1, 1],
     "args": ["x", "y", "B * S", "S", "min(WARPS, 1 + min(1, ceil_div(S, 256 * PACKS) - 1) + 2 * min(1, ceil_div(S, 512 * PACKS) - 1) + 4 * min(1, ceil_div(S, 1024 * PACKS) - 1))", "scale"]}
  ]
}
*/
// y[b, q, k] = exp(scale x[b, q, k]) / sum over j <= q of exp(scale x[b, q, j]) for k <= q, 0 for k > q, with the row's
// maximum subtracted first; x, y: [B, S, S].
//
// A team of warps takes a row, as few as hold its 256 * PACKS columns a warp in registers, as packs of eight halves.
// Columns beyond the diagonal are never read: zeros are stored there while the loads are under way. Each warp takes the
// exponentials with its own maximum, and the team meets once, at a named barrier, to exchange maxima and sums. KEEP
// holds the exponentials in registers and scales them; otherwise they are taken a second time. Rows that are not aligned
// or longer than a team holds are read three times.
//
// One of five replies of a model that saw the prompt alone (docs/strategies-nvidia-h200.md). Measured on one H200 on
// 2026-11-26, cold caches, median: 209.5 us at 64x2048, 85 % of the bound, with KEEP=1 PACKS=4 RESIDENT=32 STREAM=0
// WARPS=8.
#include <cuda_fp16.h>

constexpr unsigned kNone = 0xfc00fc00u;  // twice -infinity

__device__ __forceinline__ float power(float v) {
  float r;
  asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

__device__ __forceinline__ __half2 halves(unsigned two) { return *(const __half2*)&two; }
__device__ __forceinline__ unsigned bits(__half2 two) { return *(const unsigned*)&two; }
__device__ __forceinline__ unsigned larger(unsigned a, unsigned b) { return bits(__hmax2(halves(a), halves(b))); }

// Two elements, n and n + 1, of which those from count on become -infinity.
__device__ __forceinline__ unsigned masked(unsigned two, int n, int count) {
  if (n >= count) return kNone;
  return n + 1 >= count ? (two & 0xffffu) | 0xfc000000u : two;
}

__device__ __forceinline__ void store(__half* at, uint4 v) {
  if constexpr (STREAM != 0) {
    __stcs((uint4*)at, v);
  } else {
    *(uint4*)at = v;
  }
}

// The row's largest exponent and 1 / its sum from those of the team's warps.
__device__ __forceinline__ float2 meet(float2* parts, float top, float sum, int warp, int lane, int team) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (team == 1) return make_float2(top, 1.0f / sum);
  const int leader = warp & ~(team - 1);  // team is a power of two
  if (lane == 0) parts[warp] = make_float2(top, sum);
  __syncwarp();
  asm volatile("bar.sync %0, %1;" ::"r"(1 + leader), "r"(32 * team) : "memory");
  float all = -INFINITY, total = 0.0f;
  for (int w = 0; w < team; ++w) all = fmaxf(all, parts[leader + w].x);
  for (int w = 0; w < team; ++w) total += parts[leader + w].y * power(parts[leader + w].x - all);
  return make_float2(all, 1.0f / total);
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT / WARPS)
    softmax(const __half* __restrict__ x, __half* __restrict__ y, int rows, int S, int team, float scale) {
  __shared__ float2 parts[WARPS];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = (int)((blockIdx.x * (unsigned)WARPS + warp) / (unsigned)team);
  if (row >= rows) return;  // the whole team
  const int count = row % S + 1;  // keys that this query sees
  const __half* in = x + (size_t)row * S;
  __half* out = y + (size_t)row * S;
  const int threads = 32 * team, mine = 32 * (warp & (team - 1)) + lane;
  const float factor = scale * 1.4426950408889634f;

  if (S % 8 != 0 || S > 8 * PACKS * threads) {
    float largest = -INFINITY;
    for (int k = mine; k < count; k += threads) largest = fmaxf(largest, __half2float(in[k]));
#pragma unroll
    for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
    const float top = largest * factor;
    float sum = 0.0f;
    for (int k = mine; k < count; k += threads) sum += power(fmaf(__half2float(in[k]), factor, -top));
    const float2 whole = meet(parts, top, sum, warp, lane, team);
    for (int k = mine; k < S; k += threads) {
      float value = 0.0f;
      if (k < count) value = power(fmaf(__half2float(in[k]), factor, -whole.x)) * whole.y;
      out[k] = __float2half_rn(value);
    }
    return;
  }

  uint4 raw[PACKS];
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int n = 8 * (mine + p * threads);
    raw[p] = make_uint4(kNone, kNone, kNone, kNone);
    if (n < count) raw[p] = __ldcs((const uint4*)(in + n));
  }
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int n = 8 * (mine + p * threads);
    if (n >= count && n < S) store(out + n, make_uint4(0u, 0u, 0u, 0u));
  }

  unsigned pair = kNone;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int n = 8 * (mine + p * threads);
    if (n < count && n + 8 > count) {  // the diagonal
      raw[p].x = masked(raw[p].x, n, count);
      raw[p].y = masked(raw[p].y, n + 2, count);
      raw[p].z = masked(raw[p].z, n + 4, count);
      raw[p].w = masked(raw[p].w, n + 6, count);
    }
    pair = larger(pair, larger(larger(raw[p].x, raw[p].y), larger(raw[p].z, raw[p].w)));
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) pair = larger(pair, __shfl_xor_sync(0xffffffffu, pair, step));
  const float2 both = __half22float2(halves(pair));
  const float top = fmaxf(both.x, both.y) * factor;  // -infinity in a warp without columns, which skips all packs

  float kept[PACKS][8];
  float sum = 0.0f;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int n = 8 * (mine + p * threads);
    if (n < count) {
      const unsigned words[4] = {raw[p].x, raw[p].y, raw[p].z, raw[p].w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 v = __half22float2(halves(words[i]));
        const float a = power(fmaf(v.x, factor, -top)), b = power(fmaf(v.y, factor, -top));
        kept[p][2 * i] = a;
        kept[p][2 * i + 1] = b;
        sum += a + b;
      }
    }
  }
  const float2 whole = meet(parts, top, sum, warp, lane, team);
  float share = whole.y;
  if (KEEP != 0 && team > 1) share *= power(top - whole.x);

#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int n = 8 * (mine + p * threads);
    if (n < count) {
      const unsigned words[4] = {raw[p].x, raw[p].y, raw[p].z, raw[p].w};
      unsigned result[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float a, b;
        if constexpr (KEEP != 0) {
          a = kept[p][2 * i];
          b = kept[p][2 * i + 1];
        } else {
          const float2 v = __half22float2(halves(words[i]));
          a = power(fmaf(v.x, factor, -whole.x));
          b = power(fmaf(v.y, factor, -whole.x));
        }
        result[i] = bits(__floats2half2_rn(a * share, b * share));
      }
      store(out + n, make_uint4(result[0], result[1], result[2], result[3]));
    }
  }
}
