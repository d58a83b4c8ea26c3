/* kernelwright
{
  "problem": "quantize_i8",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a block per row, or a few short rows; the row stays in registers between maximum and rounding",
  "tunables": {"BLOCK": [256, 128, 512, 1024], "PACKS": [4, 2, 8], "HINTS": [1, 0, 2]},
  "launches": [
    {"kernel": "quantize",
     "grid": ["ceil_div(M, BLOCK / 32 / min(BLOCK / 32, ceil_div(N + 7 * (N % 8 > 0), 256 * PACKS)))", 1, 1],
     "block": ["BLOCK", 1, 1],
     "args": ["x", "q", "scale", "M", "N", "min(BLOCK / 32, ceil_div(N + 7 * (N % 8 > 0), 256 * PACKS))"]}
  ]
}
*/
// scale[m] = max_n |x[m, n]| / 127, q[m, n] = rint(x[m, n] / scale[m]); x, q: [M, N] row-major, scale: [M].
//
// A group of 32 threads takes 256 * PACKS neighbouring columns, PACKS vectors of eight in each thread. `share` groups
// take a row together: one for a short row, the whole block for a long one. The first share * 256 * PACKS columns of a
// row stay in registers; those beyond are read again. Vectors begin at a multiple of eight elements of memory, up to
// seven columns before the row, so that only the two ends of a row are moved one element at a time.
// Rounding is an addition: near 1.5 * 2^23 floats are whole numbers, and the low byte of the sum is the result.
#include <cuda_bf16.h>

// HINTS marks as used once: 0 nothing, 1 loads, 2 loads and stores. Lines of unmarked stores outlive the launch in L2.
template <class V>
__device__ __forceinline__ V load(const V* from) {
  return HINTS > 0 ? __ldcs(from) : __ldg(from);
}
template <class V>
__device__ __forceinline__ void store(V* to, V value) {
  if constexpr (HINTS > 1) {
    __stcs(to, value);
  } else {
    *to = value;
  }
}

constexpr int kGroups = BLOCK / 32;
constexpr int kSegment = 256 * PACKS;

// Eight bf16 in memory's order, the lower one of each pair in the lower half.
__device__ __forceinline__ uint4 load(const unsigned short* __restrict__ row, int n, int N) {
  if (n >= 0 && n + 7 < N) return load((const uint4*)(row + n));
  unsigned half[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) half[i] = n + i >= 0 && n + i < N ? row[n + i] : 0u;
  return make_uint4(half[0] | half[1] << 16, half[2] | half[3] << 16, half[4] | half[5] << 16, half[6] | half[7] << 16);
}

__device__ __forceinline__ float lower(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ __forceinline__ float upper(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }
__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }
__device__ __forceinline__ float largest_of(unsigned pair) { return larger(fabsf(lower(pair)), fabsf(upper(pair))); }
__device__ __forceinline__ float largest_of(uint4 pack) {
  return larger(larger(largest_of(pack.x), largest_of(pack.y)), larger(largest_of(pack.z), largest_of(pack.w)));
}

// value * lift * inverse is q before it is rounded; lift is a power of two, and not 1 where 127 / max would overflow.
struct Scale {
  float lift, inverse;
};

__device__ __forceinline__ unsigned rounded(float value, Scale scale) {
  return __float_as_uint(value * scale.lift * scale.inverse + 12582912.0f) & 0xffu;
}

__device__ __forceinline__ unsigned rounded(unsigned a, unsigned b, Scale scale) {
  return rounded(lower(a), scale) | rounded(upper(a), scale) << 8 | rounded(lower(b), scale) << 16 |
         rounded(upper(b), scale) << 24;
}

__device__ __forceinline__ void store(int8_t* __restrict__ row, int n, int N, uint4 pack, Scale scale) {
  const uint2 bytes = make_uint2(rounded(pack.x, pack.y, scale), rounded(pack.z, pack.w, scale));
  if (n >= 0 && n + 7 < N) {
    store((uint2*)(row + n), bytes);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (n + i >= 0 && n + i < N) row[n + i] = (int8_t)((i < 4 ? bytes.x : bytes.y) >> (8 * (i % 4)));
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    quantize(const __nv_bfloat16* __restrict__ x, int8_t* __restrict__ q, float* __restrict__ scales, int M, int N,
             int share) {
  __shared__ float maxima[kGroups];
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const int rows = kGroups / share, slot = group / share, part = group % share;
  const int row = blockIdx.x * rows + slot;
  const bool active = slot < rows && row < M;  // surplus groups still take part in shuffles and barriers
  const size_t offset = active ? (size_t)row * N : 0;
  const unsigned short* in = (const unsigned short*)x + offset;
  int8_t* out = q + offset;
  const int columns = active ? N : 0;
  const int first = part * kSegment + 8 * lane - (int)(offset % 8);
  const int tile = share * kSegment;

  uint4 packs[PACKS];
  float largest = 0.0f;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) packs[p] = load(in, first + p * 256, columns);
#pragma unroll
  for (int p = 0; p < PACKS; ++p) largest = larger(largest, largest_of(packs[p]));
  for (int n = first + tile; n < columns; n += tile) {
#pragma unroll
    for (int p = 0; p < PACKS; ++p) largest = larger(largest, largest_of(load(in, n + p * 256, columns)));
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    largest = larger(largest, __shfl_xor_sync(KW_WHOLE_WAVE, largest, step, 32));
  }
  if (share > 1) {
    if (lane == 0) maxima[group] = largest;
    __syncthreads();
    for (int g = 0; g < share && slot < rows; ++g) largest = larger(largest, maxima[slot * share + g]);
  }
  if (!active) return;

  const float lift = largest < 1e-30f ? 0x1p96f : 1.0f;
  const Scale scale = {lift, largest > 0.0f ? 127.0f / (largest * lift) : 0.0f};
  if (part == 0 && lane == 0) scales[row] = largest / 127.0f;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) store(out, first + p * 256, columns, packs[p], scale);
  for (int n = first + tile; n < columns; n += tile) {
#pragma unroll
    for (int p = 0; p < PACKS; ++p) store(out, n + p * 256, columns, load(in, n + p * 256, columns), scale);
  }
}
