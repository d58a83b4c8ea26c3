// The judge's work on a GPU: input content, poison, statistics of outputs. judge_kernels_source puts this file, the
// formulas that the host shares (verifier/formulas) and one file for each kind of work into one source, since NVRTC
// gets no headers of ours. judge_kernels.h names each kernel's counterpart on the host; all fields of arguments and
// results are 8 bytes wide.
//
// Every kernel is right for any one-dimensional grid and blocks of up to 256 threads, and gives the same answer for the
// same grid and block: sums are kept in double and joined in a fixed order. Input content and poison do not depend on
// grid and block at all.
#include <cuda_fp16.h>

#define HOST_DEVICE __device__ __forceinline__

namespace {

// In the order of core::DType.
enum Dtype { f16, bf16, f8e4m3, f8e5m2, f32, f64, i8, u8, i32, u32, i64, boolean };

struct Bfloat {
  uint16_t bits;
};

__device__ __forceinline__ double as_double(__half value) { return static_cast<double>(__half2float(value)); }
__device__ __forceinline__ double as_double(Bfloat value) {
  return static_cast<double>(__uint_as_float(static_cast<uint32_t>(value.bits) << 16));
}
// f8e4m3 or f8e5m2. (CUDA's header for them takes longer to compile than all of this.)
template <int dtype>
struct Float8 {
  static constexpr uint32_t kFraction = dtype == f8e4m3 ? 3 : 2, kBias = dtype == f8e4m3 ? 7 : 15;
  static constexpr uint32_t kEnd = dtype == f8e4m3 ? 0x7F : 0x7C;  // the code after the largest number's
  static constexpr float kLeast = dtype == f8e4m3 ? 0x1p-9f : 0x1p-16f;
  uint8_t bits;
};
template <int dtype>
__device__ __forceinline__ double as_double(Float8<dtype> value) {
  typedef Float8<dtype> Format;
  const uint32_t magnitude = value.bits & 0x7Fu;
  float size = __uint_as_float((magnitude << (23 - Format::kFraction)) + ((127 - Format::kBias) << 23));
  if (magnitude < 1u << Format::kFraction) size = static_cast<float>(magnitude) * Format::kLeast;
  if (magnitude >= Format::kEnd) size = dtype == f8e5m2 && magnitude == Format::kEnd ? INFINITY : NAN;
  return static_cast<double>((value.bits & 0x80) != 0 ? -size : size);
}
__device__ __forceinline__ double as_double(float value) { return static_cast<double>(value); }
__device__ __forceinline__ double as_double(double value) { return value; }

__device__ __forceinline__ uint32_t f16_bits(float value) { return __half_as_ushort(__float2half_rn(value)); }
__device__ __forceinline__ uint32_t bf16_bits(float value) {
  const uint32_t bits = __float_as_uint(value);
  if (value != value) return 0x7FC0;
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

// verifier/draws/elements.cpp's conversions, bit for bit.
template <int dtype>
__device__ __forceinline__ uint32_t f8_bits(float value) {
  typedef Float8<dtype> Format;
  constexpr uint32_t kDropped = 23 - Format::kFraction;
  const uint32_t bits = __float_as_uint(value), magnitude = bits & 0x7FFFFFFFu, sign = bits >> 24 & 0x80u;
  if (value != value) return 0x7F;
  if (magnitude < (128 - Format::kBias) << 23) {  // denormal: whole steps of the least one
    return sign | (__float_as_uint(fabsf(value) / Format::kLeast + 0x1p23f) & 0xFFu);
  }
  const uint32_t half = (1u << (kDropped - 1)) - 1 + (magnitude >> kDropped & 1);
  return sign | min(((magnitude + half) >> kDropped) - ((127 - Format::kBias) << Format::kFraction), Format::kEnd);
}
// Rounded once: the last bit of the float on the way says that there was more.
template <int dtype>
__device__ __forceinline__ uint32_t f8_bits(double value) {
  const float cut = __double2float_rz(value);
  return f8_bits<dtype>(__uint_as_float(__float_as_uint(cut) | (static_cast<double>(cut) != value ? 1u : 0u)));
}

__device__ __forceinline__ void store_element(void* out, int64_t dtype, int64_t i, double value) {
  switch (dtype) {
    case f16:
      static_cast<uint16_t*>(out)[i] = static_cast<uint16_t>(f16_bits(static_cast<float>(value)));
      break;
    case bf16:
      static_cast<uint16_t*>(out)[i] = static_cast<uint16_t>(bf16_bits(static_cast<float>(value)));
      break;
    case f8e4m3:
      static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(f8_bits<f8e4m3>(value));
      break;
    case f8e5m2:
      static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(f8_bits<f8e5m2>(value));
      break;
    case f32:
      static_cast<float*>(out)[i] = static_cast<float>(value);
      break;
    default:
      static_cast<double*>(out)[i] = value;
  }
}

__device__ __forceinline__ void store_integer(void* out, int64_t dtype, int64_t i, int64_t value) {
  switch (dtype) {
    case i8:
    case u8:
    case boolean:
      static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(value);
      break;
    case i32:
    case u32:
      static_cast<uint32_t*>(out)[i] = static_cast<uint32_t>(value);
      break;
    case i64:
      static_cast<int64_t*>(out)[i] = value;
      break;
    default:
      store_element(out, dtype, i, static_cast<double>(value));
  }
}

constexpr unsigned kMostThreads = 256;           // of a block
// Blocks of a multiprocessor, at least: they leave a thread 64 or 128 registers.
constexpr unsigned kBlocks = 4, kFewBlocks = 2;
__device__ __forceinline__ int64_t thread_index() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t all_threads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

// Results of two threads or blocks together.
__device__ __forceinline__ int64_t join(int64_t a, int64_t b) { return a + b; }

// In a fixed order. The result is thread 0's; every thread of the block must call.
template <typename T>
__device__ __forceinline__ T joined_in_block(const T& mine) {
  __shared__ T slots[kMostThreads];
  const unsigned t = threadIdx.x;
  __syncthreads();  // the slots may still be read from the last time
  slots[t] = mine;
  __syncthreads();
  for (unsigned half = kMostThreads / 2; half > 0; half /= 2) {
    if (t < half && t + half < blockDim.x) slots[t] = join(slots[t], slots[t + half]);
    __syncthreads();
  }
  return slots[0];
}

}  // namespace
