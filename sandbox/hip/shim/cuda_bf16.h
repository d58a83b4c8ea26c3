// __nv_bfloat16 and __nv_bfloat162: float without its lower half, converted to the nearest; arithmetic is in float.
#pragma once

#include "cuda_fp16.h"

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  KW_INLINE __nv_bfloat16(float value) : __x(bits_of(value)) {}
  KW_INLINE operator float() const { return __uint_as_float(static_cast<unsigned>(__x) << 16); }
  KW_INLINE static unsigned short bits_of(float value) {
    const unsigned bits = __float_as_uint(value);
    // A carry goes on into the exponent, where it should; half way goes up if the last bit kept is set.
    return value != value ? 0x7fff : static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};

KW_INLINE __nv_bfloat16 __float2bfloat16(float value) { return __nv_bfloat16(value); }
KW_INLINE __nv_bfloat16 __float2bfloat16_rn(float value) { return __nv_bfloat16(value); }
KW_INLINE float __bfloat162float(__nv_bfloat16 value) { return value; }
KW_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
KW_INLINE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
KW_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 pair) { return __floats2bfloat162_rn(pair.x, pair.y); }
KW_INLINE float2 __bfloat1622float2(__nv_bfloat162 pair) { return make_float2(pair.x, pair.y); }
KW_INLINE float __low2float(__nv_bfloat162 pair) { return pair.x; }
KW_INLINE float __high2float(__nv_bfloat162 pair) { return pair.y; }
KW_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.__x; }
KW_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  __nv_bfloat16 value;
  value.__x = bits;
  return value;
}
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
