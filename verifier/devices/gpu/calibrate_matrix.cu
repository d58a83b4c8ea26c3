// Measures the matrix cores of an AMD GPU, for `kernelwright calibrate` (calibration.cpp).
//
// kw_matrix_*  per wavefront and round kProducts products, by MFMA on CDNA 2 and newer: 16x16x16 of f16 and of bf16, and,
//              under the name tf32, 16x16x4 of f32, since not all of these have a TF32. On other architectures
//              fused multiply-adds of f32, as many FLOP.
// kw_has_mfma  is there where the first is the case
//
// Operands are random, of either sign and with a magnitude between 1/8 and 2: products of zeros draw less power, and then
// the clock stays higher than real work lets it. Results are summed up into sums[thread], so that nothing can be left out.

constexpr int kProducts = 8;

__device__ inline unsigned mixed(unsigned long long x) {  // SplitMix64's finaliser
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return (unsigned)(x >> 32);
}

__device__ inline float random_float(unsigned long long key) {
  const float magnitude = 0.125f + 1.875f * (float)(mixed(key) & 0xFFFF) / 65536.0f;
  return (mixed(key) & 0x10000) != 0 ? -magnitude : magnitude;
}

__device__ inline size_t own_index() { return (size_t)blockIdx.x * blockDim.x + threadIdx.x; }

#if __has_builtin(__builtin_amdgcn_mfma_f32_16x16x16bf16_1k) && \
    (defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__))
extern "C" __global__ void kw_has_mfma() {}

typedef float Sums __attribute__((ext_vector_type(4)));
typedef _Float16 Halves __attribute__((ext_vector_type(4)));
typedef short Shorts __attribute__((ext_vector_type(4)));

struct F16 {
  typedef Halves Part;
  __device__ static Part random(unsigned long long key) {
    Part part;
    for (int i = 0; i < 4; ++i) part[i] = (_Float16)random_float(key * 4 + i);
    return part;
  }
  __device__ static Sums multiply(Part a, Part b, Sums c) { return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0); }
};
struct Bf16 {
  typedef Shorts Part;
  __device__ static Part random(unsigned long long key) {
    Part part;
    for (int i = 0; i < 4; ++i) part[i] = (short)(__float_as_uint(random_float(key * 4 + i)) >> 16);
    return part;
  }
  __device__ static Sums multiply(Part a, Part b, Sums c) {
    return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, 0, 0, 0);
  }
};
struct Tf32 {
  typedef float Part;
  __device__ static Part random(unsigned long long key) { return random_float(key); }
  __device__ static Sums multiply(Part a, Part b, Sums c) { return __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, 0, 0, 0); }
};

template <typename Type>
__device__ inline void products(int rounds, float* sums) {
  const typename Type::Part a = Type::random(own_index() * 2), b = Type::random(own_index() * 2 + 1);
  Sums all[kProducts] = {};
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kProducts; ++i) all[i] = Type::multiply(a, b, all[i]);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kProducts; ++i) sum += all[i][0] + all[i][1] + all[i][2] + all[i][3];
  sums[own_index()] = sum;
}
#else
struct F16 {
  static constexpr int kSteps = 64;  // a lane's share of a product of 16x16x16
};
struct Bf16 : F16 {};
struct Tf32 {
  static constexpr int kSteps = 16;
};

template <typename Type>
__device__ inline void products(int rounds, float* sums) {
  const float a = random_float(own_index() * 2) / 2, b = random_float(own_index() * 2 + 1);  // no sum overflows
  float all[kProducts] = {};
  for (int round = 0; round < rounds; ++round) {
    for (int step = 0; step < Type::kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < kProducts; ++i) all[i] = all[i] * a + b;
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kProducts; ++i) sum += all[i];
  sums[own_index()] = sum;
}
#endif

extern "C" __global__ void __launch_bounds__(256) kw_matrix_f16(int rounds, float* sums) { products<F16>(rounds, sums); }
extern "C" __global__ void __launch_bounds__(256) kw_matrix_bf16(int rounds, float* sums) { products<Bf16>(rounds, sums); }
extern "C" __global__ void __launch_bounds__(256) kw_matrix_tf32(int rounds, float* sums) { products<Tf32>(rounds, sums); }
