// Shared memory by its 32-bit address, as PTX takes it, and the layout that a 128-byte swizzle gives it.
// arch: sm_90
//
// A swizzled tile has rows of 128 bytes, that is eight chunks of 16, and begins at a multiple of 1024 bytes. Chunk c of
// row r lies where chunk c ^ (r % 8) would. TMA writes and reads tiles this way if the tensor map says "swizzle": 128,
// wgmma reads them, and eight lanes that access one chunk of eight rows use all banks.
//
//   extern __shared__ unsigned char raw[];
//   const unsigned tile = kw::round_up(kw::shared_address(raw), 1024);
//   const uint4 eight = kw::load_four(tile + kw::swizzled(row, chunk));
namespace kw {

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ unsigned round_up(unsigned address, unsigned multiple) {
  return (address + multiple - 1) / multiple * multiple;
}

// Bytes from the start of a swizzled tile to 16 of a row's 128 bytes; chunk: 0 to 7.
__device__ __forceinline__ int swizzled(int row, int chunk) { return row * 128 + ((chunk ^ (row % 8)) << 4); }

__device__ __forceinline__ uint4 load_four(unsigned address) {
  uint4 four;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
               : "r"(address)
               : "memory");
  return four;
}

// stmatrix: a warp stores four 8 x 8 matrices of 16-bit elements. Lane l gives the address of row l % 8 of matrix l / 8
// and holds elements 2 * (l % 4) and the next of row l / 4 of each, which is how sums of mma and wgmma lie.
__device__ __forceinline__ void store_matrices(unsigned to, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}

}  // namespace kw
