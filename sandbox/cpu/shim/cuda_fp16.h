// __half and __half2 (IEEE 754 binary16) with the functions and operators of the toolkit's header of this name.
#pragma once

#include "kw_narrow_float.h"

#define __CUDA_FP16_TYPES_EXIST__
#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)

// The processor's own conversions where it has them; tests define KW_HALF_IN_SOFTWARE to do without. On x86-64 not by
// way of _Float16: g++ would calculate in that type.
KW_DEVICE unsigned short __kw_half_bits(float value) {
#if defined(__F16C__) && !defined(KW_HALF_IN_SOFTWARE)
  typedef float Floats __attribute__((vector_size(16)));
  const unsigned short bits = static_cast<unsigned short>(__builtin_ia32_vcvtps2ph(Floats{value}, 0)[0]);
  return value != value ? 0x7fff : bits;
#elif defined(__aarch64__) && !defined(KW_HALF_IN_SOFTWARE)
  const __fp16 half = static_cast<__fp16>(value);
  unsigned short bits;
  __builtin_memcpy(&bits, &half, sizeof bits);
  return value != value ? 0x7fff : bits;
#else
  return __kw_narrow<10>(value, __kw_direction::nearest);
#endif
}
KW_DEVICE float __kw_half_value(unsigned short bits) {
  const unsigned magnitude = bits & 0x7fffu;
  if (magnitude > 0x7c00) return __kw_bits<float>(0x7fffffff);
#if defined(__F16C__) && !defined(KW_HALF_IN_SOFTWARE)
  typedef short Shorts __attribute__((vector_size(16)));
  return __builtin_ia32_vcvtph2ps(Shorts{static_cast<short>(bits)})[0];
#elif defined(__aarch64__) && !defined(KW_HALF_IN_SOFTWARE)
  __fp16 half;
  __builtin_memcpy(&half, &bits, sizeof half);
  return static_cast<float>(half);
#else
  // A float with the half's fields in place is 2^-112 of it, denormal or not.
  const float size = magnitude == 0x7c00 ? __builtin_inff() : __kw_bits<float>(magnitude << 13) * 0x1p112f;
  return (bits & 0x8000) != 0 ? -size : size;
#endif
}

struct __nv_bfloat16;
KW_NARROW_RAW(__half)
struct __attribute__((aligned(2))) __half {
  KW_NARROW_MEMBERS(__half, half)
#ifndef __CUDA_NO_HALF_CONVERSIONS__
  explicit __half(__nv_bfloat16 value);  // cuda_bf16.h has it
  KW_NARROW_CONVERSIONS(__half, half)
#endif
};
KW_NARROW_PAIR(__half, float)
KW_NARROW_CONVERTERS(__half, half, 10)
#include "kw_narrow_functions.h"
#ifndef __CUDA_NO_HALF_OPERATORS__
KW_NARROW_SINGLE_OPERATORS(__half, half)
#endif
#ifndef __CUDA_NO_HALF2_OPERATORS__
KW_NARROW_PAIR_OPERATORS(__half, half)
#endif

typedef __half __nv_half, nv_half;
typedef __half2 __nv_half2, nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
#endif
