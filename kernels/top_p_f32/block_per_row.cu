/* kernelwright
{
  "problem": "top_p_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a block per row; three histograms of sums find the threshold, scans the token",
  "tunables": {"BLOCK": [1024, 512, 256], "COPIES": [2, 1]},
  "launches": [
    {"kernel": "top_p", "grid": ["M", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["probs", "top_p", "u", "tokens", "N"]}
  ]
}
*/
// tokens[m]: the first column n with probs[m, n] >= t whose running sum of such elements exceeds u[m] times their sum,
// where t is the largest threshold whose elements add up to top_p[m] of the row. probs: [M, N] row-major; top_p, u,
// tokens: [M].
//
// Floats of 0 and more are in the order of their bits, which are taken as digits of 12, 10 and 9 bits. For each digit
// the block reads the row and adds the mantissa of each element to the bin of its digit in shared memory, a sum of 64
// bits in two words of 32, since shared memory adds words without loops; exponents are those of the bins. So the sums
// of bins are exact until they become floats. The sums from the greatest bin down lead to the bin that holds t; the
// next digit counts only its elements. Then warps add up the nucleus in tiles of four columns to a lane, and the tile
// that crosses u[m] * S is scanned.
// Cost: the row is read four times, from DRAM or, where the rows of all running blocks fit there, from L2 once; an
// atomic operation on shared memory for each element that is not 0.
constexpr int kWarps = BLOCK / KW_WAVE, kBins = 2048;
constexpr int kTile = 4 * KW_WAVE;
static_assert(131072 / kTile <= kBins);

struct Scratch {
  unsigned low[kBins * COPIES], high[kBins];  // sums of mantissas: words, and how often they overflowed
  float sums[kBins];                          // of bins, at last of tiles
  float of_warps[kWarps];
  float total, above;
  int bin, tile;
};

// Four columns from n on; 0 beyond the row.
__device__ __forceinline__ float4 load(const float* __restrict__ in, int n, int N) {
  float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (N % 4 == 0) {
    if (n < N) four = *(const float4*)(in + n);
    return four;
  }
  if (n < N) four.x = in[n];
  if (n + 1 < N) four.y = in[n + 1];
  if (n + 2 < N) four.z = in[n + 2];
  if (n + 3 < N) four.w = in[n + 3];
  return four;
}

__device__ __forceinline__ float scanned(float value, int lane) {
#pragma unroll
  for (int step = 1; step < KW_WAVE; step *= 2) {
    const float other = __shfl_up_sync(KW_WHOLE_WAVE, value, step);
    if (lane >= step) value += other;
  }
  return value;
}
__device__ __forceinline__ float sum_of_warp(float value) {
#pragma unroll
  for (int step = KW_WAVE / 2; step > 0; step /= 2) value += __shfl_xor_sync(KW_WHOLE_WAVE, value, step);
  return value;
}
__device__ __forceinline__ int first_lane(unsigned long long votes) { return __ffsll((long long)votes) - 1; }
__device__ __forceinline__ int last_lane(unsigned long long votes) { return 63 - __clzll((long long)votes); }

// Finds the bin, from `count` - 1 down to 0, where the sum, which begins with `above`, reaches the goal. Then s.bin is
// the bin and s.above the sum before it; returns false if no bin does.
__device__ __forceinline__ bool descend(int count, float above, float goal, Scratch& s) {
  const int lane = threadIdx.x % KW_WAVE, warp = threadIdx.x / KW_WAVE;
  const int each = (count + BLOCK - 1) / BLOCK, from = count - 1 - (int)threadIdx.x * each;
  float own = 0.0f;
  for (int b = from; b > from - each && b >= 0; --b) own += s.sums[b];
  const float scan = scanned(own, lane), before = __shfl_up_sync(KW_WHOLE_WAVE, scan, 1);
  if (lane == KW_WAVE - 1) s.of_warps[warp] = scan;
  __syncthreads();
  float run = above;
  int crossing = 0;
  while (crossing < kWarps && run + s.of_warps[crossing] < goal) run += s.of_warps[crossing++];
  if (crossing == warp) {
    const int chosen = first_lane(__ballot_sync(KW_WHOLE_WAVE, run + scan >= goal));  // the last lane votes for it
    if (lane == chosen) {
      float sum = lane > 0 ? run + before : run;
      int b = from;
      while (b > from - each + 1 && b > 0 && sum + s.sums[b] < goal) sum += s.sums[b--];
      s.bin = b;
      s.above = sum;
    }
  }
  __syncthreads();
  return crossing < kWarps;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    top_p(const float* __restrict__ probs, const float* __restrict__ top_p, const float* __restrict__ u,
          long long* __restrict__ tokens, int N) {
  __shared__ Scratch s;
  const int t = threadIdx.x, lane = t % KW_WAVE, warp = t / KW_WAVE, row = blockIdx.x;
  const float* __restrict__ in = probs + (size_t)row * N;

  unsigned least = 0;  // the bits of t that are known, then 0
  float above = 0.0f, goal = 0.0f;
  bool open = true;
#pragma unroll
  for (int digit = 0; digit < 3; ++digit) {
    if (!open) break;
    const int shift = digit == 0 ? 19 : digit == 1 ? 9 : 0, bins = digit == 0 ? kBins : digit == 1 ? 1024 : 512;
    const int copies = digit == 0 ? COPIES : 1;
    for (int i = t; i < bins * copies; i += BLOCK) s.low[i] = 0;
    for (int i = t; i < bins; i += BLOCK) s.high[i] = 0;
    __syncthreads();
    const auto add = [&](float v) {
      const unsigned bits = __float_as_uint(v), bin = (bits - least) >> shift;
      if (!(v > 0.0f) || bits < least || bin >= (unsigned)bins) return;
      const unsigned mantissa = bits < 0x800000u ? bits : (bits & 0x7fffffu) | 0x800000u;
      const unsigned before = atomicAdd(&s.low[bin * copies + lane % copies], mantissa);
      if (before + mantissa < before) atomicAdd(&s.high[bin], 1u);
    };
    float own = 0.0f;
#pragma unroll 4
    for (int n = 4 * t; n < N; n += 4 * BLOCK) {
      const float4 v = load(in, n, N);
      own += (v.x + v.y) + (v.z + v.w);
      add(v.x);
      add(v.y);
      add(v.z);
      add(v.w);
    }
    __syncthreads();
    for (int b = t; b < bins; b += BLOCK) {
      unsigned long long sum = (unsigned long long)s.high[b] << 32;
      for (int c = 0; c < copies; ++c) sum += s.low[b * copies + c];
      // An exponent of 0 has the scale of 1.
      const unsigned exponent = max((least + ((unsigned)b << shift)) >> 23, 1u);
      s.sums[b] = (float)sum * 1.1920929e-7f * __uint_as_float(exponent << 23);
    }
    if (digit == 0) {
      own = sum_of_warp(own);
      if (lane == 0) s.of_warps[warp] = own;
      __syncthreads();
      if (t == 0) {
        float sum = 0.0f;
        for (int w = 0; w < kWarps; ++w) sum += s.of_warps[w];
        s.total = sum;
      }
    }
    __syncthreads();
    if (digit == 0) goal = top_p[row] * s.total;
    open = descend(bins, above, goal, s);
    least += open ? (unsigned)s.bin << shift : 0u;
    if (open) above = s.above;
  }

  // The nucleus in each tile of the row.
  const float limit = __uint_as_float(least);
  const auto kept = [&](int n) {
    const float4 v = load(in, n, N);
    return make_float4(v.x >= limit ? v.x : 0.0f, v.y >= limit ? v.y : 0.0f, v.z >= limit ? v.z : 0.0f,
                       v.w >= limit ? v.w : 0.0f);
  };
  const int tiles = (N + kTile - 1) / kTile;
#pragma unroll 4
  for (int tile = warp; tile < tiles; tile += kWarps) {
    const float4 v = kept(tile * kTile + 4 * lane);
    const float sum = sum_of_warp((v.x + v.y) + (v.z + v.w));
    if (lane == 0) s.sums[tile] = sum;
  }
  __syncthreads();
  if (warp > 0) return;

  // From here on, one warp. A place is chosen in three steps: the first part at which the sum exceeds the target, or
  // else the last part that has any of the nucleus.
  const int each = (tiles + KW_WAVE - 1) / KW_WAVE;
  float own = 0.0f;
  for (int i = lane * each; i < min(tiles, (lane + 1) * each); ++i) own += s.sums[i];
  float scan = scanned(own, lane);
  const float nucleus = __shfl_sync(KW_WHOLE_WAVE, scan, KW_WAVE - 1), target = u[row] * nucleus;
  if (nucleus == 0.0f) {  // a row of zeros
    if (lane == 0) tokens[row] = N - 1;
    return;
  }
  const auto crossing_of = [&](float base) {
    const unsigned long long over = __ballot_sync(KW_WHOLE_WAVE, own > 0.0f && base + scan > target);
    const unsigned long long some = __ballot_sync(KW_WHOLE_WAVE, own > 0.0f);
    return over != 0 ? first_lane(over) : last_lane(some);
  };
  float before = __shfl_up_sync(KW_WHOLE_WAVE, scan, 1);
  if (lane == crossing_of(0.0f)) {
    float sum = lane > 0 ? before : 0.0f;
    bool crossed = false;
    for (int i = lane * each; i < min(tiles, (lane + 1) * each) && !crossed; ++i) {
      if (!(s.sums[i] > 0.0f)) continue;
      s.tile = i;
      s.above = sum;
      sum += s.sums[i];
      crossed = sum > target;
    }
  }
  __syncwarp();
  const int n = s.tile * kTile + 4 * lane;
  const float base = s.above;
  const float4 four = kept(n);
  own = (four.x + four.y) + (four.z + four.w);
  scan = scanned(own, lane);
  before = __shfl_up_sync(KW_WHOLE_WAVE, scan, 1);
  if (lane == crossing_of(base)) {
    const float values[4] = {four.x, four.y, four.z, four.w};
    float sum = lane > 0 ? base + before : base;
    int column = n;
    bool crossed = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (!crossed && values[i] > 0.0f) {
        column = n + i;
        sum += values[i];
        crossed = sum > target;
      }
    }
    tokens[row] = column;
  }
}
