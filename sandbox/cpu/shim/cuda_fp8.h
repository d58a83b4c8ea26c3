// __nv_fp8_e4m3 and __nv_fp8_e5m2, their pairs and fours, with the functions of the toolkit's header of this name.
// (Its e8m0, powers of two as scales, is not here.)
#pragma once

#ifdef __HIP__
#error "the header <cuda_fp8.h> is CUDA's; HIP has none of its kind"
#endif

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#define __CUDA_FP8_TYPES_EXIST__

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

// To nearest, of two equally near ones the even one. A NaN becomes 0x7f. The float may have been rounded to odd.
KW_DEVICE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                   __nv_fp8_interpretation_t format) {
  return __kw_fp8_bits(x, format == __NV_E4M3, saturate == __NV_SATFINITE);
}
// A NaN keeps its sign and, in e5m2, its first bits.
KW_DEVICE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                    __nv_fp8_interpretation_t format) {
  if (x == x) return __nv_cvt_float_to_fp8(__kw_odd_float(x), saturate, format);
  const unsigned long long bits = __kw_bits<unsigned long long>(x);
  const unsigned nan = format == __NV_E4M3 ? 0x7f : 0x7e | (bits >> 50 & 3);
  return static_cast<__nv_fp8_storage_t>((bits >> 63 << 7) | nan);
}
KW_DEVICE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(__kw_half_value(x.x), saturate, format);
}
KW_DEVICE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                         __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(__kw_bfloat16_value(x.x), saturate, format);
}

// The first of two in the lower bits.
KW_DEVICE __nv_fp8x2_storage_t __kw_fp8_pair(__nv_fp8_storage_t x, __nv_fp8_storage_t y) {
  return static_cast<__nv_fp8x2_storage_t>(x | y << 8);
}
#define KW_FP8_PAIR(Pair, Part, part, from)                                                                     \
  KW_DEVICE __nv_fp8x2_storage_t __nv_cvt_##Pair##_to_fp8x2(Part a, __nv_saturation_t saturate,                 \
                                                            __nv_fp8_interpretation_t format) {                 \
    return __kw_fp8_pair(__nv_cvt_##part##_to_fp8(from(a.x), saturate, format),                                 \
                         __nv_cvt_##part##_to_fp8(from(a.y), saturate, format));                                \
  }
#define KW_HALF_RAW(bits) (__half_raw{bits})
#define KW_BFLOAT16_RAW(bits) (__nv_bfloat16_raw{bits})
KW_FP8_PAIR(float2, float2, float, )
KW_FP8_PAIR(double2, double2, double, )
KW_FP8_PAIR(halfraw2, __half2_raw, halfraw, KW_HALF_RAW)
KW_FP8_PAIR(bfloat16raw2, __nv_bfloat162_raw, bfloat16raw, KW_BFLOAT16_RAW)
#undef KW_FP8_PAIR
#undef KW_HALF_RAW
#undef KW_BFLOAT16_RAW

KW_DEVICE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  return __half_raw{__kw_half_bits(__kw_fp8_value(x, (format) == __NV_E4M3))};
}
KW_DEVICE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t format) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x), format).x,
                     __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), format).x};
}
KW_DEVICE float2 __kw_fp8_values(unsigned x, __nv_fp8_interpretation_t format) {
  return float2{__kw_fp8_value(static_cast<__nv_fp8_storage_t>(x), (format) == __NV_E4M3),
                __kw_fp8_value(static_cast<__nv_fp8_storage_t>(x >> 8), (format) == __NV_E4M3)};
}
KW_DEVICE __nv_fp8x4_storage_t __kw_fp8_four(__nv_fp8x2_storage_t low, __nv_fp8x2_storage_t high) {
  return static_cast<__nv_fp8x4_storage_t>(high) << 16 | low;
}

// The conversions of the classes. To them all saturate.
#ifndef __CUDA_NO_FP8_CONVERSIONS__
#define KW_FP8_FROM(T, format)                                                                                  \
  explicit T(__half f) : __x(__nv_cvt_halfraw_to_fp8(f, __NV_SATFINITE, format)) {}                             \
  explicit T(__nv_bfloat16 f) : __x(__nv_cvt_bfloat16raw_to_fp8(f, __NV_SATFINITE, format)) {}                  \
  explicit T(float f) : __x(__nv_cvt_float_to_fp8(f, __NV_SATFINITE, format)) {}                                \
  explicit T(double f) : __x(__nv_cvt_double_to_fp8(f, __NV_SATFINITE, format)) {}                              \
  template <typename I, typename = typename __kw_integer<I>::type>                                              \
  explicit T(I value) : T(static_cast<float>(value)) {}
#define KW_FP8_FROM_PAIR(T, format)                                                                             \
  explicit T(__half2 f) : __x(__nv_cvt_halfraw2_to_fp8x2(f, __NV_SATFINITE, format)) {}                         \
  explicit T(__nv_bfloat162 f) : __x(__nv_cvt_bfloat16raw2_to_fp8x2(f, __NV_SATFINITE, format)) {}              \
  explicit T(float2 f) : __x(__nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, format)) {}                            \
  explicit T(double2 f) : __x(__nv_cvt_double2_to_fp8x2(f, __NV_SATFINITE, format)) {}
#define KW_FP8_FROM_FOUR(T, Pair)                                                                               \
  explicit T(__half2 low, __half2 high) : __x(__kw_fp8_four(Pair(low).__x, Pair(high).__x)) {}                  \
  explicit T(__nv_bfloat162 low, __nv_bfloat162 high) : __x(__kw_fp8_four(Pair(low).__x, Pair(high).__x)) {}    \
  explicit T(float4 f) : __x(__kw_fp8_four(Pair(float2{f.x, f.y}).__x, Pair(float2{f.z, f.w}).__x)) {}          \
  explicit T(double4 f) : __x(__kw_fp8_four(Pair(double2{f.x, f.y}).__x, Pair(double2{f.z, f.w}).__x)) {}
#else
#define KW_FP8_FROM(T, format)
#define KW_FP8_FROM_PAIR(T, format)
#define KW_FP8_FROM_FOUR(T, Pair)
#define __CUDA_NO_FP8_CONVERSION_OPERATORS__
#endif
#ifndef __CUDA_NO_FP8_CONVERSION_OPERATORS__
#define KW_FP8_TO(format)                                                                                       \
  explicit operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, format)); }                     \
  explicit operator float() const { return __kw_fp8_value(__x, (format) == __NV_E4M3); }                                       \
  explicit operator __nv_bfloat16() const { return __float2bfloat16_rz(__kw_fp8_value(__x, (format) == __NV_E4M3)); }          \
  explicit operator double() const { return static_cast<double>(__kw_fp8_value(__x, (format) == __NV_E4M3)); }                 \
  explicit operator bool() const { return (__x & 0x7f) != 0; }                                                  \
  template <typename I, typename = typename __kw_integer<I>::type>                                              \
  explicit operator I() const {                                                                                 \
    return __kw_saturated<I>(__builtin_truncf(__kw_fp8_value(__x, (format) == __NV_E4M3)));                                    \
  }
#define KW_FP8_TO_PAIR(format)                                                                                  \
  explicit operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, format)); }                \
  explicit operator float2() const { return __kw_fp8_values(__x, format); }
#define KW_FP8_TO_FOUR(format)                                                                                  \
  explicit operator float4() const {                                                                            \
    const float2 low = __kw_fp8_values(__x, format), high = __kw_fp8_values(__x >> 16, format);                 \
    return float4{low.x, low.y, high.x, high.y};                                                                \
  }
#else
#define KW_FP8_TO(format)
#define KW_FP8_TO_PAIR(format)
#define KW_FP8_TO_FOUR(format)
#endif

#define KW_FP8(n, format)                                     \
  struct __attribute__((aligned(1))) __nv_fp8_##n {           \
    __nv_fp8_storage_t __x;                                   \
    __nv_fp8_##n() = default;                                 \
    KW_FP8_FROM(__nv_fp8_##n, format)                         \
    KW_FP8_TO(format)                                         \
  };                                                          \
  struct __attribute__((aligned(2))) __nv_fp8x2_##n {         \
    __nv_fp8x2_storage_t __x;                                 \
    __nv_fp8x2_##n() = default;                               \
    KW_FP8_FROM_PAIR(__nv_fp8x2_##n, format)                  \
    KW_FP8_TO_PAIR(format)                                    \
  };                                                          \
  struct __attribute__((aligned(4))) __nv_fp8x4_##n {         \
    __nv_fp8x4_storage_t __x;                                 \
    __nv_fp8x4_##n() = default;                               \
    KW_FP8_FROM_FOUR(__nv_fp8x4_##n, __nv_fp8x2_##n)          \
    KW_FP8_TO_FOUR(format)                                    \
  };
KW_FP8(e4m3, __NV_E4M3)
KW_FP8(e5m2, __NV_E5M2)
#undef KW_FP8
#undef KW_FP8_FROM
#undef KW_FP8_FROM_PAIR
#undef KW_FP8_FROM_FOUR
#undef KW_FP8_TO
#undef KW_FP8_TO_PAIR
#undef KW_FP8_TO_FOUR
