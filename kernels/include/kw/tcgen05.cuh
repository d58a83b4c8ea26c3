// tcgen05: one thread has the tensor cores multiply 128 x 16 by 16 x N matrices of bf16 or f16, sums in tensor memory.
// arch: sm_100a
// problems: gemm, attention
//
// d[m][n] = [d +] sum_k a[m][k] b[k][n]. N is a multiple of 16 up to 256; a and b lie in shared memory as wgmma.cuh says
// of k_major (the next 16 of k: + 32 bytes) and mn_major tiles (+ 2048). Threads that write them call tma::fence().
// Tensor memory has 128 lanes of 512 columns of 32 bits a block; an address has the lane in bits 16 and up and the
// column below. d has row m in lane m, in N columns from its address on. One warp allocates 32, 64, 128, 256 or 512
// columns, which waits while other blocks have them, and the same warp frees them before the block ends:
//
//   if (warp == 0) kw::tcgen05::alloc(kw::shared_address(&slot), 256);
//   kw::tcgen05::meet();
//   const unsigned d = slot;
//   ...
//   kw::tcgen05::meet();
//   if (warp == 0) kw::tcgen05::dealloc(d, 256);
//
// One thread multiplies, in order; commit() has an mbarrier hear of the end (1 arrival). Whoever waits there may then
// write the tiles again and read d: each warp the 32 lanes from 32 * (warp % 4) on, a lane each; here from column x on.
//
//   constexpr unsigned what = kw::tcgen05::instruction<kw::tcgen05::bf16, kw::tcgen05::mn_major>(256);
//   kw::tcgen05::after_sync();                               // after mbarrier::wait(full, ...)
//   for (int k = 0; k < 4; ++k) kw::tcgen05::multiply(d, a + k * (32 >> 4), b + k * (2048 >> 4), what, k > 0);
//   kw::tcgen05::commit(done);
//   ...                                                      // the warps, with float sums[32]:
//   kw::tcgen05::after_sync();                               // after mbarrier::wait(done, ...)
//   kw::tcgen05::load(sums, d + (warp % 4 * 32 << 16) + x);
//   kw::tcgen05::wait_load(sums);                            // sums[i]: column x + i
//   kw::tcgen05::before_sync();                              // before mbarrier::arrive where the first thread waits
namespace kw {
namespace tcgen05 {

enum Type { f16 = 0, bf16 = 1 };           // as the instruction encodes it
enum Major { k_major = 0, mn_major = 1 };  // the same

// ---- Tensor memory, by a whole warp
// Writes the address of so many columns to shared memory.
__device__ __forceinline__ void alloc(unsigned to, int columns) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(to), "r"(columns) : "memory");
}
__device__ __forceinline__ void dealloc(unsigned address, int columns) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns) : "memory");
}
// The block allocates no more: others need not wait for it to.
__device__ __forceinline__ void relinquish() {
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
}

// ---- Order, where threads meet or wait for each other: what came before is done for those behind the meeting.
__device__ __forceinline__ void before_sync() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
__device__ __forceinline__ void after_sync() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
__device__ __forceinline__ void meet() {
  before_sync();
  __syncthreads();
  after_sync();
}

// ---- Products
// Of tiles that TMA swizzled by 128 bytes. In units of 16 bytes: the address in bits 0 to 13; from one box to the next
// (leading) in 16 to 29; from eight rows of 128 bytes to the next eight (stride) in 32 to 45. 1 in bits 46 to 48 is
// sm_100's form, 2 in bits 61 to 63 the swizzle.
__device__ __forceinline__ unsigned long long descriptor(unsigned address, int leading_bytes, int stride_bytes) {
  return (unsigned long long)((address & 0x3FFFF) >> 4) | (unsigned long long)(leading_bytes >> 4) << 16 |
         (unsigned long long)(stride_bytes >> 4) << 32 | 1ull << 46 | 2ull << 61;
}
__device__ __forceinline__ unsigned long long k_major_tile(unsigned address) { return descriptor(address, 16, 1024); }
__device__ __forceinline__ unsigned long long mn_major_tile(unsigned address, int box_bytes) {
  return descriptor(address, box_bytes, 1024);
}
// What multiply() does: f32 sums in bits 4 and 5, types of a and b in 7 to 9 and 10 to 12, how they lie in 15 and 16,
// N / 8 in 17 to 22, and 128 / 16 for the rows in 24 to 28.
template <Type type, Major of_b = k_major, Major of_a = k_major>
__device__ constexpr unsigned instruction(int columns) {
  return 1u << 4 | (unsigned)type << 7 | (unsigned)type << 10 | (unsigned)of_a << 15 | (unsigned)of_b << 16 |
         (unsigned)(columns / 8) << 17 | 128u / 16 << 24;
}

// By one thread. add: 0 overwrites d.
__device__ __forceinline__ void multiply(unsigned d, unsigned long long a, unsigned long long b, unsigned what,
                                         int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(d),
      "l"(a), "l"(b), "r"(what), "r"(add)
      : "memory");
}
// One arrival at the mbarrier when all that this thread has multiplied so far is done.
__device__ __forceinline__ void commit(unsigned barrier) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier) : "memory");
}

// ---- Sums, by a whole warp: 8, 16 or 32 columns of its 32 lanes.
// clang-format off
#define T5_TO_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define T5_TO_16 T5_TO_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define T5_TO_32 T5_TO_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define T5_SUMS_8(i)                                                                                                  \
  "=f"(d[i]), "=f"(d[i + 1]), "=f"(d[i + 2]), "=f"(d[i + 3]), "=f"(d[i + 4]), "=f"(d[i + 5]), "=f"(d[i + 6]),         \
      "=f"(d[i + 7])
#define T5_SUMS_16(i) T5_SUMS_8(i), T5_SUMS_8(i + 8)
#define T5_SUMS_32(i) T5_SUMS_16(i), T5_SUMS_16(i + 16)
#define T5_LOAD(COUNT, NUMBERS, SUMS, FROM)                                                                           \
  __device__ __forceinline__ void load(float (&d)[COUNT], unsigned from) {                                            \
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x" #COUNT ".b32 {" NUMBERS "}, [" FROM "];"                          \
                 : SUMS : "r"(from) : "memory");                                                                      \
  }
T5_LOAD(8, T5_TO_8, T5_SUMS_8(0), "%8")
T5_LOAD(16, T5_TO_16, T5_SUMS_16(0), "%16")
T5_LOAD(32, T5_TO_32, T5_SUMS_32(0), "%32")
#undef T5_LOAD
#undef T5_TO_8
#undef T5_TO_16
#undef T5_TO_32
#undef T5_SUMS_8
#undef T5_SUMS_16
#undef T5_SUMS_32
// clang-format on

// Keeps the compiler from moving uses of d to before this place.
template <int N>
__device__ __forceinline__ void settle(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
// Until all loads of the warp are there. One argument for each of them.
template <int... N>
__device__ __forceinline__ void wait_load(float (&... d)[N]) {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  (settle(d), ...);
}

}  // namespace tcgen05
}  // namespace kw
