// Matrices of 16-bit elements with unaligned rows: aligned copies of them, and stores of results in words of 16 bytes.
// arch: sm_80
// problems: gemm
//
// copy_padded() makes a copy with aligned rows, for tensor maps and cp.async: rows of `pitch` elements, a multiple of
// 8; zeros follow the row's own. Warps of all blocks share the work; a launch of its own runs it. A plan's workspace
// and tensor map of a [M, K] matrix, with rows of whole 128 bytes:
//   "a_padded": {"bytes": "128 * M * ceil_div(K, 64)"}
//   "a_map": {"tensor": "a_padded", "dtype": "bf16", "shape": ["64 * ceil_div(K, 64)", "M"], "box": [64, 128], ...}
//
//   kw::unaligned::copy_padded(a_padded, a, M, K, (K + 63) / 64 * 64);
//
// store_row() writes `width` neighbours of a row (a multiple of 64), or the first `left` of them if those are fewer.
// They lie in shared memory in chunks of eight; chunk(i) gives the address of the i-th, aligned to 16 bytes. width / 8
// neighbouring lanes share a row, lane counts them. to is aligned to 16 bytes; first counts elements from there.
//
//   kw::unaligned::store_row<64>(c, (size_t)m * N + n0, N - n0, lane % 8,
//                                [&](int i) { return staged + kw::swizzled(row, i); });
namespace kw {
namespace unaligned {

// Eight elements of the sixteen in low and high, from element `skip` (0 to 7) on.
__device__ __forceinline__ uint4 realign(const uint4& low, const uint4& high, int skip) {
  unsigned w[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 6; ++i) w[i] = skip & 4 ? w[i + 2] : w[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) w[i] = skip & 2 ? w[i + 1] : w[i];
  const int bits = skip % 2 * 16;
  return make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                    __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], w[4], bits));
}

__device__ __forceinline__ void copy_padded(void* padded, const void* matrix, int rows, int columns, int pitch) {
  constexpr int kEach = 4;  // chunks of eight that a lane has under way
  const int lane = threadIdx.x % 32, warps = gridDim.x * (blockDim.x / 32);
  const int chunks = pitch / 8, parts = (chunks + 32 * kEach - 1) / (32 * kEach);
  const size_t count = (size_t)rows * columns;
  for (int unit = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; unit < rows * parts; unit += warps) {
    const int row = unit / parts, i0 = unit % parts * (32 * kEach) + lane;
    const size_t first = (size_t)row * columns;
    const int skip = first % 8, next = skip > 0;
    const uint4* from = (const uint4*)matrix + first / 8;
    uint4* to = (uint4*)padded + (size_t)row * chunks;
    // Chunks whose elements all exist, and whose words of 16 bytes lie within the matrix.
    const int whole = min(columns / 8, (int)(count / 8 - first / 8) - next);
    uint4 low[kEach], high[kEach];
#pragma unroll
    for (int u = 0; u < kEach; ++u) {
      const int i = i0 + 32 * u;
      if (i >= whole) continue;
      low[u] = from[i];
      high[u] = from[i + next];
    }
#pragma unroll
    for (int u = 0; u < kEach; ++u) {
      const int i = i0 + 32 * u;
      if (i < whole) {
        to[i] = realign(low[u], high[u], skip);
      } else if (i < chunks) {
        const unsigned short* at = (const unsigned short*)matrix + first;
        unsigned w[4] = {};
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          if (8 * i + e < columns) w[e / 2] |= (unsigned)at[8 * i + e] << e % 2 * 16;
        }
        to[i] = make_uint4(w[0], w[1], w[2], w[3]);
      }
    }
  }
}

template <int width, typename Chunk>
__device__ __forceinline__ void store_row(void* to, size_t first, int left, int lane, const Chunk& chunk) {
  unsigned short* row = (unsigned short*)to + first;
  const auto element = [&](int column) { return ((const unsigned short*)chunk(column / 8))[column % 8]; };
  if (left < width) {
    for (int column = lane; column < left; column += width / 8) row[column] = element(column);
    return;
  }
  const int over = first % 8;  // elements before the row's first one in its word of 16 bytes
  if (over == 0 || lane > 0) {
    const uint4 low = *(const uint4*)chunk(lane - (over > 0)), high = *(const uint4*)chunk(lane);
    __stcs((uint4*)to + first / 8 + lane, realign(low, high, (8 - over) % 8));
  }
  if (over > 0 && lane < 8) {  // the words at both ends belong to neighbours, too
    const int column = lane < 8 - over ? lane : width - 8 + lane;
    row[column] = element(column);
  }
}

}  // namespace unaligned
}  // namespace kw
