/* kernelwright
{
  "problem": "gather_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "packs of four indices in the order of the output, ITEMS in flight per thread; x from global memory",
  "tunables": {"BLOCK": [256, 128, 512, 64, 1024], "ITEMS": [2, 4, 1, 8], "HINTS": [1, 2, 0]},
  "launches": [
    {"kernel": "gather", "grid": ["ceil_div(M * ((J % 4 == 0) * (J / 4) + (J % 4 > 0) * J), BLOCK * ITEMS)", 1, 1],
     "block": ["BLOCK", 1, 1], "args": ["x", "index", "y", "M", "N", "J"]}
  ]
}
*/
// y[m, j] = x[m, index[m, j]]; x: [M, N], index, y: [M, J].
//
// A block owns BLOCK * ITEMS consecutive packs of y: four elements where J is a multiple of 4, else one; a row has
// `units` of them. One division finds the row of the block's first pack; from there the row is the upper half of a
// product with 2^32 / units rounded up, exact for rows shorter than a block's share. A thread loads the indices of all
// its packs before it gathers, and gathers all before it stores. Each element of x comes from L1 or L2 as a sector of
// 32 bytes, so that caches set the pace where J is near N, and memory where J is small.

// HINTS marks as used once: 0 nothing, 1 indices, 2 indices and stores.
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

__device__ __forceinline__ float gathered(const float* row, int at) { return __ldg(row + at); }
__device__ __forceinline__ float4 gathered(const float* row, int4 at) {
  return make_float4(__ldg(row + at.x), __ldg(row + at.y), __ldg(row + at.z), __ldg(row + at.w));
}

template <class Values, class Indices>
__device__ __forceinline__ void gather_packs(const float* __restrict__ x, const Indices* __restrict__ index,
                                             Values* __restrict__ y, int M, int N, unsigned units) {
  const size_t start = (size_t)blockIdx.x * (BLOCK * ITEMS), all_left = (size_t)M * units - start;
  const int left = all_left < BLOCK * ITEMS ? (int)all_left : BLOCK * ITEMS;
  const size_t row0 = start >> 32 == 0 ? (unsigned)start / units : start / units;
  const unsigned column0 = (unsigned)(start - row0 * units), inverse = 0xffffffffu / units + 1;
  Indices indices[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const int i = threadIdx.x + k * BLOCK;
    if (i < left) indices[k] = load(index + start + i);
  }
  Values values[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const int i = threadIdx.x + k * BLOCK;
    // Of a block's packs, those of long rows lie in two rows at most.
    const unsigned row = units >= BLOCK * ITEMS ? column0 + i >= units : units > 1 ? __umulhi(column0 + i, inverse) : i;
    if (i < left) values[k] = gathered(x + (row0 + row) * N, indices[k]);
  }
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const int i = threadIdx.x + k * BLOCK;
    if (i < left) store(y + start + i, values[k]);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    gather(const float* __restrict__ x, const int* __restrict__ index, float* __restrict__ y, int M, int N, int J) {
  if (J % 4 == 0) {
    gather_packs(x, (const int4*)index, (float4*)y, M, N, J / 4);
  } else {
    gather_packs(x, index, y, M, N, J);
  }
}
