// wgmma: a warpgroup multiplies 64 x k by k x N matrices of tf32 (k = 8), bf16, f16 (k = 16) or e4m3 (k = 32) into f32.
// arch: sm_90a
// problems: gemm, attention
//
// d[m][n] = [d +] sum_k a[m][k] b[k][n]. N (16, 32, 64, 96, 128, 192, 256) is twice the size of d. Thread t has, for
// m = t / 32 * 16 + t % 32 / 4 + 8 * r and n = 8 * j + t % 4 * 2 + s, d[4 * j + 2 * r + s]. b is in shared memory; a
// is, too, or in registers. A descriptor names a tile that TMA swizzled by 128 bytes:
//  - k_major: a row of 128 bytes of contiguous k for each m (or n). The instruction's next k: + 32 bytes.
//  - mn_major: boxes of 64 contiguous n (or m), box_bytes apart; in a box, a row of 128 bytes for each k. The next 16
//    of k: + 2048 bytes. Not for e4m3 and tf32.
// Descriptors count in units of 16 bytes: add bytes >> 4.
//
//   float sums[128];                                                         // 64 x 256
//   const auto a = kw::wgmma::k_major_tile(a_at), b = kw::wgmma::mn_major_tile(b_at, 64 * 128);
//   kw::wgmma::fence();
//   for (int k = 0; k < 4; ++k) {                                            // unrolled; 64 of k
//     kw::wgmma::multiply<kw::wgmma::bf16, kw::wgmma::mn_major>(sums, a + k * (32 >> 4), b + k * (2048 >> 4), k > 0);
//   }
//   kw::wgmma::commit();
//   kw::wgmma::wait<0>();
//   kw::wgmma::settle(sums);
//
// Sums of e4m3 keep some 14 bits: take them out and add them in f32 every two instructions (64 of k). tf32 is f32 whose
// lower 13 bits the instruction cuts off: add 0x1000 to the bits before, which rounds to the nearest.
// It runs asynchronously: until wait(), nothing may touch d, a in registers, or the tiles. Tiles that threads wrote
// instead of TMA need tma::fence() before.
namespace kw {
namespace wgmma {

enum Type { bf16, f16, e4m3, tf32 };
enum Major { k_major = 0, mn_major = 1 };  // as the instruction encodes it

// In units of 16 bytes: the address in bits 0 to 13; from one box to the next (leading) in 16 to 29; from eight rows of
// 128 bytes to the next eight (stride) in 32 to 45. 1 in bits 62 and 63 is the swizzle by 128.
__device__ __forceinline__ unsigned long long descriptor(unsigned address, int leading_bytes, int stride_bytes) {
  return (unsigned long long)((address & 0x3FFFF) >> 4) | (unsigned long long)(leading_bytes >> 4) << 16 |
         (unsigned long long)(stride_bytes >> 4) << 32 | 1ull << 62;
}
__device__ __forceinline__ unsigned long long k_major_tile(unsigned address) { return descriptor(address, 16, 1024); }
__device__ __forceinline__ unsigned long long mn_major_tile(unsigned address, int box_bytes) {
  return descriptor(address, box_bytes, 1024);
}

// Before the first multiplication after registers of d or a changed.
__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Makes a group of the multiplications since the last one.
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Until all but the latest N groups are done.
template <int N>
__device__ __forceinline__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
// Keeps the compiler from moving uses of registers across this place: before fence() and behind wait().
template <int N>
__device__ __forceinline__ void settle(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
template <int N>
__device__ __forceinline__ void settle(unsigned (&a)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+r"(a[i])::"memory");
}

// Operands of the instruction by number, and as constraints.
// clang-format off
#define WG_TO_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define WG_TO_16                                                                                                      \
  WG_TO_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define WG_TO_32                                                                                                      \
  WG_TO_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WG_TO_48                                                                                                      \
  WG_TO_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define WG_TO_64                                                                                                      \
  WG_TO_48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WG_TO_96 WG_TO_64 ", "                                                                                        \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, "              \
  "%84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define WG_TO_128 WG_TO_96 ", "                                                                                       \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, "          \
  "%114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define WG_SUMS_8(i)                                                                                                  \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]),         \
      "+f"(d[i + 7])
#define WG_SUMS_16(i) WG_SUMS_8(i), WG_SUMS_8(i + 8)
#define WG_SUMS_32(i) WG_SUMS_16(i), WG_SUMS_16(i + 16)
#define WG_SUMS_48(i) WG_SUMS_32(i), WG_SUMS_16(i + 32)
#define WG_SUMS_64(i) WG_SUMS_32(i), WG_SUMS_32(i + 32)
#define WG_SUMS_96(i) WG_SUMS_64(i), WG_SUMS_32(i + 64)
#define WG_SUMS_128(i) WG_SUMS_64(i), WG_SUMS_64(i + 64)
#define WG_IF(ADD) "{\n.reg .pred p;\nsetp.ne.b32 p, " ADD ", 0;\nwgmma.mma_async.sync.aligned.m64n"

// multiply<type, major of b, major of a>(d, a, b, add): a and b are descriptors; add: 0 overwrites d.
#define WG_SHARED(N, COUNT, NUMBERS, SUMS, A, B, ADD, A_MAJOR, B_MAJOR)                                               \
  template <Type type, Major of_b = k_major, Major of_a = k_major>                                                    \
  __device__ __forceinline__ void multiply(float (&d)[COUNT], unsigned long long a, unsigned long long b, int add) {  \
    if constexpr (type == bf16) {                                                                                     \
      asm volatile(WG_IF(ADD) N "k16.f32.bf16.bf16 {" NUMBERS "}, " A ", " B ", p, 1, 1, " A_MAJOR ", " B_MAJOR ";\n}"\
                   : SUMS : "l"(a), "l"(b), "r"(add), "n"(int(of_a)), "n"(int(of_b)));                                \
    } else if constexpr (type == f16) {                                                                               \
      asm volatile(WG_IF(ADD) N "k16.f32.f16.f16 {" NUMBERS "}, " A ", " B ", p, 1, 1, " A_MAJOR ", " B_MAJOR ";\n}"  \
                   : SUMS : "l"(a), "l"(b), "r"(add), "n"(int(of_a)), "n"(int(of_b)));                                \
    } else if constexpr (type == e4m3) {                                                                              \
      static_assert(of_a == k_major && of_b == k_major, "k must be contiguous");                                      \
      asm volatile(WG_IF(ADD) N "k32.f32.e4m3.e4m3 {" NUMBERS "}, " A ", " B ", p, 1, 1;\n}"                          \
                   : SUMS : "l"(a), "l"(b), "r"(add));                                                                \
    } else {                                                                                                          \
      static_assert(of_a == k_major && of_b == k_major, "k must be contiguous");                                      \
      asm volatile(WG_IF(ADD) N "k8.f32.tf32.tf32 {" NUMBERS "}, " A ", " B ", p, 1, 1;\n}"                           \
                   : SUMS : "l"(a), "l"(b), "r"(add));                                                                \
    }                                                                                                                 \
  }
// multiply<type, major of b>(d, a0, a1, a2, a3, b, add): this thread's words of a, two elements (e4m3: four, tf32: one)
// along k. Words 0 and 1: rows t % 32 / 4 and 8 more, k = t % 4 times the elements of a word; words 2 and 3: the same
// rows, k four times those elements further. Sums d[8 * i] to d[8 * i + 7] of another product, packed in pairs, are a
// for k = 16 * i to 16 * i + 15.
#define WG_REGISTERS(N, COUNT, NUMBERS, SUMS, A, B, ADD, B_MAJOR)                                                     \
  template <Type type, Major of_b = k_major>                                                                          \
  __device__ __forceinline__ void multiply(float (&d)[COUNT], unsigned a0, unsigned a1, unsigned a2, unsigned a3,     \
                                           unsigned long long b, int add) {                                           \
    if constexpr (type == bf16) {                                                                                     \
      asm volatile(WG_IF(ADD) N "k16.f32.bf16.bf16 {" NUMBERS "}, {" A "}, " B ", p, 1, 1, " B_MAJOR ";\n}"           \
                   : SUMS : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(add), "n"(int(of_b)));                    \
    } else if constexpr (type == f16) {                                                                               \
      asm volatile(WG_IF(ADD) N "k16.f32.f16.f16 {" NUMBERS "}, {" A "}, " B ", p, 1, 1, " B_MAJOR ";\n}"             \
                   : SUMS : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(add), "n"(int(of_b)));                    \
    } else if constexpr (type == e4m3) {                                                                              \
      static_assert(of_b == k_major, "k must be contiguous");                                                         \
      asm volatile(WG_IF(ADD) N "k32.f32.e4m3.e4m3 {" NUMBERS "}, {" A "}, " B ", p, 1, 1;\n}"                        \
                   : SUMS : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(add));                                    \
    } else {                                                                                                          \
      static_assert(of_b == k_major, "k must be contiguous");                                                         \
      asm volatile(WG_IF(ADD) N "k8.f32.tf32.tf32 {" NUMBERS "}, {" A "}, " B ", p, 1, 1;\n}"                         \
                   : SUMS : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(add));                                    \
    }                                                                                                                 \
  }
WG_SHARED("16", 8, WG_TO_8, WG_SUMS_8(0), "%8", "%9", "%10", "%11", "%12")
WG_SHARED("32", 16, WG_TO_16, WG_SUMS_16(0), "%16", "%17", "%18", "%19", "%20")
WG_SHARED("64", 32, WG_TO_32, WG_SUMS_32(0), "%32", "%33", "%34", "%35", "%36")
WG_SHARED("96", 48, WG_TO_48, WG_SUMS_48(0), "%48", "%49", "%50", "%51", "%52")
WG_SHARED("128", 64, WG_TO_64, WG_SUMS_64(0), "%64", "%65", "%66", "%67", "%68")
WG_SHARED("192", 96, WG_TO_96, WG_SUMS_96(0), "%96", "%97", "%98", "%99", "%100")
WG_SHARED("256", 128, WG_TO_128, WG_SUMS_128(0), "%128", "%129", "%130", "%131", "%132")
WG_REGISTERS("16", 8, WG_TO_8, WG_SUMS_8(0), "%8, %9, %10, %11", "%12", "%13", "%14")
WG_REGISTERS("32", 16, WG_TO_16, WG_SUMS_16(0), "%16, %17, %18, %19", "%20", "%21", "%22")
WG_REGISTERS("64", 32, WG_TO_32, WG_SUMS_32(0), "%32, %33, %34, %35", "%36", "%37", "%38")
WG_REGISTERS("96", 48, WG_TO_48, WG_SUMS_48(0), "%48, %49, %50, %51", "%52", "%53", "%54")
WG_REGISTERS("128", 64, WG_TO_64, WG_SUMS_64(0), "%64, %65, %66, %67", "%68", "%69", "%70")
WG_REGISTERS("192", 96, WG_TO_96, WG_SUMS_96(0), "%96, %97, %98, %99", "%100", "%101", "%102")
WG_REGISTERS("256", 128, WG_TO_128, WG_SUMS_128(0), "%128, %129, %130, %131", "%132", "%133", "%134")
#undef WG_IF
#undef WG_SHARED
#undef WG_REGISTERS
#undef WG_TO_8
#undef WG_TO_16
#undef WG_TO_32
#undef WG_TO_48
#undef WG_TO_64
#undef WG_TO_96
#undef WG_TO_128
#undef WG_SUMS_8
#undef WG_SUMS_16
#undef WG_SUMS_32
#undef WG_SUMS_48
#undef WG_SUMS_64
#undef WG_SUMS_96
#undef WG_SUMS_128
// clang-format on

}  // namespace wgmma
}  // namespace kw
