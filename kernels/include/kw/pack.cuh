// Pairs of 16-bit elements in a word, and rows of sums for 16-byte stores. sm_80 and later.
// arch: sm_80
// problems: gemm, attention
//
// Sums of mma and wgmma lie so that lane l has columns 2 * (l % 4) and the next of each block of eight columns. Packed,
// that is a word of each block. Four words, of four neighbouring blocks, become one whole block a lane:
//
//   unsigned w[4];
//   for (int i = 0; i < 4; ++i) w[i] = kw::pack_bf16(sums[4 * i], sums[4 * i + 1]);  // row l / 4, columns 8 * i + ...
//   kw::transpose(w, lane);
//   *(uint4*)(row + lane % 4 * 8) = make_uint4(w[0], w[1], w[2], w[3]);               // eight columns
namespace kw {

// The first element of memory is `low`. Round to nearest even.
__device__ __forceinline__ unsigned pack_bf16(float low, float high) {
  unsigned two;
  asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(two) : "f"(low), "f"(high));
  return two;
}
__device__ __forceinline__ unsigned pack_f16(float low, float high) {
  unsigned two;
  asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(two) : "f"(low), "f"(high));
  return two;
}

// Transposes 4 x 4 words of four lanes: afterwards, lane l of them has word l of each, in order of the lanes.
__device__ __forceinline__ void transpose(unsigned (&w)[4], int lane) {
  const bool odd = lane % 2, high = lane / 2 % 2;
#pragma unroll
  for (int j = 0; j < 4; j += 2) {
    const unsigned got = __shfl_xor_sync(0xffffffffu, odd ? w[j] : w[j + 1], 1);
    w[j] = odd ? got : w[j];
    w[j + 1] = odd ? w[j + 1] : got;
  }
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const unsigned got = __shfl_xor_sync(0xffffffffu, high ? w[j] : w[j + 2], 2);
    w[j] = high ? got : w[j];
    w[j + 2] = high ? w[j + 2] : got;
  }
}

}  // namespace kw
