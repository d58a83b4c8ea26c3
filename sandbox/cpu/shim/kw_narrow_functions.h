// The functions that cuda_fp16.h and cuda_bf16.h have under the same name, for both formats. cuda_fp16.h includes it
// after __half; __nv_bfloat16 is found by way of the arguments.
//
// Sums, products, quotients and roots are computed in float and rounded again. The second rounding changes nothing,
// since float's 24 bits are at least twice the format's (11 or 8) plus 2. Only a fused multiply-add needs more: see
// __kw_fused.
#pragma once

#include "kw_atomic.h"
#include "kw_narrow_float.h"
#include "kw_threads.h"

// NaN and -0 become +0.
KW_DEVICE float __kw_clamped(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
// -0 is less than +0; a NaN loses against a number, or wins.
KW_DEVICE float __kw_max(float x, float y) {
  if (x == y) return __kw_bits<int>(x) < 0 ? y : x;
  return x > y || y != y ? x : y;
}
KW_DEVICE float __kw_max_nan(float x, float y) { return x != x ? x : y != y ? y : __kw_max(x, y); }

// From the floats x, y and z. The arguments may be anything that converts to a format.
#define KW_SINGLE1(name, Result, result)                                                         \
  template <typename A, typename T = decltype(__kw_common(A()))>                                 \
  KW_DEVICE Result name(A a) {                                                                   \
    const float x = static_cast<T>(a).__kw_wide();                                               \
    return result;                                                                               \
  }
#define KW_SINGLE2(name, Result, result)                                                         \
  template <typename A, typename B, typename T = decltype(__kw_common(A(), B()))>                \
  KW_DEVICE Result name(A a, B b) {                                                              \
    const float x = static_cast<T>(a).__kw_wide(), y = static_cast<T>(b).__kw_wide();            \
    return result;                                                                               \
  }
#define KW_SINGLE3(name, Result, result)                                                         \
  template <typename A, typename B, typename C, typename T = decltype(__kw_common(A(), B(), C()))> \
  KW_DEVICE Result name(A a, B b, C c) {                                                         \
    const float x = static_cast<T>(a).__kw_wide(), y = static_cast<T>(b).__kw_wide();            \
    const float z = static_cast<T>(c).__kw_wide();                                               \
    return result;                                                                               \
  }

// And the same of both components of a pair P.
#define KW_NARROW1(name, name2, result)                                                          \
  KW_SINGLE1(name, T, T::__kw_round(result))                                                     \
  template <typename P>                                                                          \
  KW_DEVICE P name2(P a) {                                                                       \
    return P(name(a.x), name(a.y));                                                              \
  }
#define KW_NARROW2(name, name2, result)                                                          \
  KW_SINGLE2(name, T, T::__kw_round(result))                                                     \
  template <typename P>                                                                          \
  KW_DEVICE P name2(P a, P b) {                                                                  \
    return P(name(a.x, b.x), name(a.y, b.y));                                                    \
  }
#define KW_NARROW3(name, name2, result)                                                          \
  KW_SINGLE3(name, T, T::__kw_round(result))                                                     \
  template <typename P>                                                                          \
  KW_DEVICE P name2(P a, P b, P c) {                                                             \
    return P(name(a.x, b.x, c.x), name(a.y, b.y, c.y));                                          \
  }

KW_NARROW2(__hadd, __hadd2, x + y)
KW_NARROW2(__hsub, __hsub2, x - y)
KW_NARROW2(__hmul, __hmul2, x * y)
KW_NARROW2(__hdiv, __h2div, x / y)
KW_NARROW2(__hadd_rn, __hadd2_rn, x + y)
KW_NARROW2(__hsub_rn, __hsub2_rn, x - y)
KW_NARROW2(__hmul_rn, __hmul2_rn, x * y)
KW_NARROW2(__hadd_sat, __hadd2_sat, __kw_clamped(x + y))
KW_NARROW2(__hsub_sat, __hsub2_sat, __kw_clamped(x - y))
KW_NARROW2(__hmul_sat, __hmul2_sat, __kw_clamped(x * y))
KW_NARROW3(__hfma, __hfma2, __kw_fused<typename __kw_word<T>::wide>(x, y, z))
KW_NARROW3(__hfma_sat, __hfma2_sat, __kw_clamped(__kw_fused<typename __kw_word<T>::wide>(x, y, z)))
KW_NARROW3(__hfma_relu, __hfma2_relu, __kw_max_nan(__kw_fused<typename __kw_word<T>::wide>(x, y, z), 0))
KW_NARROW2(__hmax, __hmax2, __kw_max(x, y))
KW_NARROW2(__hmin, __hmin2, -__kw_max(-x, -y))
KW_NARROW2(__hmax_nan, __hmax2_nan, __kw_max_nan(x, y))
KW_NARROW2(__hmin_nan, __hmin2_nan, -__kw_max_nan(-x, -y))
KW_NARROW1(__hneg, __hneg2, -x)
KW_NARROW1(__habs, __habs2, __builtin_fabsf(x))
KW_NARROW1(hsqrt, h2sqrt, __builtin_sqrtf(x))
KW_NARROW1(hrsqrt, h2rsqrt, rsqrtf(x))
KW_NARROW1(hrcp, h2rcp, 1 / x)
KW_NARROW1(hlog, h2log, logf(x))
KW_NARROW1(hlog2, h2log2, log2f(x))
KW_NARROW1(hlog10, h2log10, log10f(x))
KW_NARROW1(hexp, h2exp, expf(x))
KW_NARROW1(hexp2, h2exp2, exp2f(x))
KW_NARROW1(hexp10, h2exp10, exp10f(x))
KW_NARROW1(hsin, h2sin, sinf(x))
KW_NARROW1(hcos, h2cos, cosf(x))
KW_NARROW1(htanh, h2tanh, tanhf(x))
KW_NARROW1(htanh_approx, h2tanh_approx, tanhf(x))
KW_NARROW1(hfloor, h2floor, __builtin_floorf(x))
KW_NARROW1(hceil, h2ceil, __builtin_ceilf(x))
KW_NARROW1(htrunc, h2trunc, __builtin_truncf(x))
KW_NARROW1(hrint, h2rint, __builtin_rintf(x))
#undef KW_NARROW1
#undef KW_NARROW2
#undef KW_NARROW3

#define KW_COMPARISON(name, result)                                                              \
  KW_SINGLE2(__h##name, bool, result)                                                            \
  template <typename P>                                                                          \
  KW_DEVICE P __h##name##2(P a, P b) {                                                           \
    typedef decltype(a.x) T;                                                                     \
    return P(T::__kw_round(__h##name(a.x, b.x)), T::__kw_round(__h##name(a.y, b.y)));            \
  }                                                                                              \
  template <typename P>                                                                          \
  KW_DEVICE unsigned __h##name##2_mask(P a, P b) {                                               \
    return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0);        \
  }                                                                                              \
  template <typename P>                                                                          \
  KW_DEVICE bool __hb##name##2(P a, P b) {                                                       \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                           \
  }
KW_COMPARISON(eq, x == y)
KW_COMPARISON(ne, x < y || x > y)
KW_COMPARISON(le, x <= y)
KW_COMPARISON(ge, x >= y)
KW_COMPARISON(lt, x < y)
KW_COMPARISON(gt, x > y)
KW_COMPARISON(equ, !(x < y || x > y))
KW_COMPARISON(neu, x != y)
KW_COMPARISON(leu, !(x > y))
KW_COMPARISON(geu, !(x < y))
KW_COMPARISON(ltu, !(x >= y))
KW_COMPARISON(gtu, !(x <= y))
#undef KW_COMPARISON
KW_SINGLE1(__hisnan, bool, x != x)
KW_SINGLE1(__hisinf, int, x == __builtin_inff() ? 1 : x == -__builtin_inff() ? -1 : 0)
#undef KW_SINGLE1
#undef KW_SINGLE2
#undef KW_SINGLE3
template <typename P>
KW_DEVICE P __hisnan2(P a) {
  return __hneu2(a, a);
}
template <typename P>
KW_DEVICE P __hcmadd(P a, P b, P c) {
  return P(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}
template <typename P>
KW_DEVICE P __lowhigh2highlow(P a) {
  return P(a.y, a.x);
}
template <typename P>
KW_DEVICE float __low2float(P a) {
  return a.x.__kw_wide();
}
template <typename P>
KW_DEVICE float __high2float(P a) {
  return a.y.__kw_wide();
}

#define KW_SHUFFLE(name, Source, source)                                                         \
  template <typename T, typename = typename __kw_word<T>::type>                                  \
  KW_DEVICE T name(__kw_mask mask, T value, Source lane, int width = KW_WAVE) {                        \
    return __kw_shuffle(#name, mask, value, source(lane, width));                                \
  }
KW_SHUFFLE(__shfl_sync, int, __kw_source_lane)
KW_SHUFFLE(__shfl_up_sync, unsigned, __kw_source_up)
KW_SHUFFLE(__shfl_down_sync, unsigned, __kw_source_down)
KW_SHUFFLE(__shfl_xor_sync, int, __kw_source_xor)
#undef KW_SHUFFLE

#define KW_ADD_TO_WORD(name, order, ...)                                                            \
  template <typename T, typename Word = typename __kw_word<T>::type>                                \
  KW_DEVICE T name(T* address, typename __kw_word<T>::value value) {                                \
    Word* place = reinterpret_cast<Word*>(address);                                                 \
    Word seen = __atomic_load_n(place, __ATOMIC_RELAXED), next;                                     \
    T old;                                                                                          \
    do {                                                                                            \
      __builtin_memcpy(static_cast<void*>(&old), &seen, sizeof old);                                \
      T sum;                                                                                        \
      if constexpr (sizeof(T) == 2) sum = __hadd(old, value);                                       \
      else sum = __hadd2(old, value);                                                               \
      __builtin_memcpy(&next, &sum, sizeof next);                                                   \
    } while (!__atomic_compare_exchange_n(place, &seen, next, true, order, __ATOMIC_RELAXED));      \
    return old;                                                                                     \
  }
KW_SCOPES(KW_ADD_TO_WORD, __ATOMIC_RELAXED, atomicAdd, )
