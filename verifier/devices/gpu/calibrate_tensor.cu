// Measures the tensor cores of a GPU, for `kernelwright calibrate` (calibration.cpp).
//
// kw_mma_*    mma.sync, any architecture from sm_80: per warp and round kTiles tiles of 16x8x16 (tf32: 16x8x8)
// kw_wgmma_*  wgmma, sm_90a only, whose peak mma.sync does not reach: per warpgroup and round kProducts products of
//             64x256x16 (tf32: 64x256x8), both operands from shared memory
//
// Operands are random: products of zeros draw less power, and then the clock stays higher than real work lets it.
// Results are summed up into sums[thread], so that nothing can be left out.

constexpr int kTiles = 8;

__device__ inline unsigned mixed(unsigned long long x) {  // SplitMix64's finaliser
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return (unsigned)(x >> 32);
}

// Bits of one f32 (read as tf32) or of two neighbouring f16 or bf16, each of either sign and with a magnitude between
// 1/8 and 2: all bits of the mantissa and two of the exponent are random.
struct F16 {
  __device__ static unsigned random(unsigned long long key) { return (mixed(key) & 0x8FFF8FFFu) | 0x30003000u; }
};
struct Bf16 {
  __device__ static unsigned random(unsigned long long key) { return (mixed(key) & 0x81FF81FFu) | 0x3E003E00u; }
};
struct Tf32 {
  __device__ static unsigned random(unsigned long long key) { return (mixed(key) & 0x81FFFFFFu) | 0x3E000000u; }
};

__device__ inline void multiply(F16, float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void multiply(Bf16, float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void multiply(Tf32, float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <typename Type>
__device__ inline void mma_rounds(int rounds, float* sums) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a[2][4], b[kTiles / 2][2];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    a[i / 4][i % 4] = Type::random(thread * 64ull + i);
    b[i / 2][i % 2] = Type::random(thread * 64ull + 32 + i);
  }
  float d[kTiles][4] = {};
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) multiply(Type(), d[tile], a[tile / 4], b[tile % 4]);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kTiles * 4; ++i) sum += d[i / 4][i % 4];
  sums[thread] = sum;
}

extern "C" __global__ void __launch_bounds__(256) kw_mma_f16(int rounds, float* sums) { mma_rounds<F16>(rounds, sums); }
extern "C" __global__ void __launch_bounds__(256) kw_mma_bf16(int rounds, float* sums) {
  mma_rounds<Bf16>(rounds, sums);
}
extern "C" __global__ void __launch_bounds__(256) kw_mma_tf32(int rounds, float* sums) {
  mma_rounds<Tf32>(rounds, sums);
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
constexpr int kProducts = 8;
constexpr int kWarpgroups = 2;     // of a block, with operands A of their own and B in common
constexpr int kABytes = 64 * 128;  // 64 rows of 128 bytes: four slices of 16 columns of f16, or of 8 of f32
constexpr int kBBytes = 256 * 128;

// Descriptor of a K-major operand in rows of 128 bytes, swizzled by 128 bytes: groups of 8 rows follow each other every
// 1024 bytes ("Matrix Descriptor Format" of the PTX manual; the leading offset is not used with this swizzle).
__device__ inline unsigned long long descriptor(const void* operand) {
  const unsigned long long address = __cvta_generic_to_shared(operand);
  return (address & 0x3FFFF) >> 4 | 1ull << 16 | (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

// The 128 registers of a 64x256 sum.
#define KW_NUMBERS                                                                               \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "             \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define KW_EIGHT(i)                                                                                           \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])
#define KW_OPERANDS                                                                                             \
  KW_EIGHT(0), KW_EIGHT(8), KW_EIGHT(16), KW_EIGHT(24), KW_EIGHT(32), KW_EIGHT(40), KW_EIGHT(48), KW_EIGHT(56), \
      KW_EIGHT(64), KW_EIGHT(72), KW_EIGHT(80), KW_EIGHT(88), KW_EIGHT(96), KW_EIGHT(104), KW_EIGHT(112),       \
      KW_EIGHT(120)

__device__ inline void multiply(F16, float (&d)[128], unsigned long long a, unsigned long long b) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" KW_NUMBERS
      "}, "
      "%128, %129, p, 1, 1, 0, 0;\n}"
      : KW_OPERANDS
      : "l"(a), "l"(b));
}
__device__ inline void multiply(Bf16, float (&d)[128], unsigned long long a, unsigned long long b) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" KW_NUMBERS
      "}, "
      "%128, %129, p, 1, 1, 0, 0;\n}"
      : KW_OPERANDS
      : "l"(a), "l"(b));
}
__device__ inline void multiply(Tf32, float (&d)[128], unsigned long long a, unsigned long long b) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {" KW_NUMBERS
      "}, "
      "%128, %129, p, 1, 1;\n}"
      : KW_OPERANDS
      : "l"(a), "l"(b));
}

template <typename Type>
__device__ inline void wgmma_rounds(int rounds, float* sums) {
  __shared__ __align__(1024) unsigned operands[(kWarpgroups * kABytes + kBBytes) / 4];
  for (unsigned i = threadIdx.x; i < sizeof(operands) / 4; i += blockDim.x) {
    operands[i] = Type::random(blockIdx.x * 0x10000ull + i);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // what was stored is seen by wgmma
  __syncthreads();
  const unsigned long long a = descriptor(operands + threadIdx.x / 128 * (kABytes / 4));
  const unsigned long long b = descriptor(operands + kWarpgroups * (kABytes / 4));
  float d[128] = {};
  for (int round = 0; round < rounds; ++round) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int product = 0; product < kProducts; ++product) {
      const unsigned long long slice = product % 4 * 32 >> 4;  // bytes along a row of 128
      multiply(Type(), d, a + slice, b + slice);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) sum += d[i];
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(256, 1) kw_wgmma_f16(int rounds, float* sums) {
  wgmma_rounds<F16>(rounds, sums);
}
extern "C" __global__ void __launch_bounds__(256, 1) kw_wgmma_bf16(int rounds, float* sums) {
  wgmma_rounds<Bf16>(rounds, sums);
}
extern "C" __global__ void __launch_bounds__(256, 1) kw_wgmma_tf32(int rounds, float* sums) {
  wgmma_rounds<Tf32>(rounds, sums);
}
#endif
