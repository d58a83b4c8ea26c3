// Shared by cuda_fp16.h and cuda_bf16.h: conversions between float and a format of 16 bits, the classes, and the
// functions that have a format in their name (kw_narrow_functions.h has the others). Every operation rounds once; a NaN
// becomes 0x7fff, as the toolkit has it. What is not used should cost next to nothing to parse, hence templates where
// the toolkit has functions, and one constructor for all integers.
#pragma once

#include "kw_math.h"
#include "kw_narrow_bits.h"

// The integer types, for overload resolution.
template <typename T>
struct __kw_integer {};
#define KW_INTEGER(T)      \
  template <>              \
  struct __kw_integer<T> { \
    typedef T type;        \
  };
KW_INTEGER(bool)
KW_INTEGER(char)
KW_INTEGER(signed char)
KW_INTEGER(unsigned char)
KW_INTEGER(short)
KW_INTEGER(unsigned short)
KW_INTEGER(int)
KW_INTEGER(unsigned)
KW_INTEGER(long)
KW_INTEGER(unsigned long)
KW_INTEGER(long long)
KW_INTEGER(unsigned long long)
#undef KW_INTEGER

// The word that an atomic operation exchanges to update a T.
template <typename T>
struct __kw_word {};

// In what follows T is a format of 16 bits and n its name within those of its functions: __half and half. Before it
// come
//   unsigned short __kw_<n>_bits(float)    to nearest
//   float __kw_<n>_value(unsigned short)

#define KW_NARROW_RAW(T)                                 \
  struct __attribute__((aligned(2))) T##_raw {           \
    unsigned short x;                                    \
  };                                                     \
  struct __attribute__((aligned(4))) T##2_raw {          \
    unsigned short x, y;                                 \
  };

// The class, except for conversions.
#define KW_NARROW_MEMBERS(T, n)                                                    \
 protected:                                                                        \
  unsigned short __x;                                                              \
                                                                                   \
 public:                                                                           \
  T() = default;                                                                   \
  constexpr T(const T##_raw& raw) : __x(raw.x) {}                                  \
  T& operator=(const T##_raw& raw) {                                               \
    __x = raw.x;                                                                   \
    return *this;                                                                  \
  }                                                                                \
  volatile T& operator=(const T##_raw& raw) volatile {                             \
    __x = raw.x;                                                                   \
    return *this;                                                                  \
  }                                                                                \
  volatile T& operator=(const volatile T##_raw& raw) volatile {                    \
    __x = raw.x;                                                                   \
    return *this;                                                                  \
  }                                                                                \
  constexpr operator T##_raw() const { return T##_raw{__x}; }                      \
  operator T##_raw() const volatile { return T##_raw{__x}; }                       \
  static T __kw_round(float value) { return T##_raw{__kw_##n##_bits(value)}; }     \
  float __kw_wide() const { return __kw_##n##_value(__x); }

#define KW_NARROW_CONVERSIONS(T, n)                                                \
  T(float value) : __x(__kw_##n##_bits(value)) {}                                  \
  T(double value) : __x(__kw_##n##_bits(__kw_odd_float(value))) {}                 \
  template <typename I, typename = typename __kw_integer<I>::type>                 \
  T(I value) : __x(__kw_##n##_bits(__kw_odd_float(value))) {}                      \
  operator float() const { return __kw_##n##_value(__x); }                         \
  constexpr operator bool() const { return (__x & 0x7fff) != 0; }                  \
  template <typename I, typename = typename __kw_integer<I>::type>                 \
  operator I() const {                                                             \
    return __kw_saturated<I>(__builtin_truncf(__kw_##n##_value(__x)));             \
  }

// Wide: what __kw_fused computes in.
#define KW_NARROW_PAIR(T, Wide)                                                    \
  struct __attribute__((aligned(4))) T##2 {                                        \
    T x, y;                                                                        \
                                                                                   \
    T##2() = default;                                                              \
    constexpr T##2(const T& a, const T& b) : x(a), y(b) {}                         \
    constexpr T##2(const T##2_raw& raw) : x(T##_raw{raw.x}), y(T##_raw{raw.y}) {}  \
    constexpr operator T##2_raw() const {                                          \
      return T##2_raw{static_cast<T##_raw>(x).x, static_cast<T##_raw>(y).x};       \
    }                                                                              \
  };                                                                               \
  template <>                                                                      \
  struct __kw_word<T> {                                                            \
    typedef unsigned short type;                                                   \
    typedef T value;                                                               \
    typedef Wide wide;                                                             \
  };                                                                               \
  template <>                                                                      \
  struct __kw_word<T##2> {                                                         \
    typedef unsigned type;                                                         \
    typedef T##2 value;                                                            \
  };                                                                               \
  T __kw_common(T, T = T(), T = T()); /* the format that arguments are converted to */

// I is an integer type, i its name. The functions to integers take what converts to T.
#define KW_NARROW_INTEGER(T, n, I, i)                                                                                 \
  KW_NARROW_FROM(T, n, I, i, rn)                                                                                      \
  KW_NARROW_FROM(T, n, I, i, rz)                                                                                      \
  KW_NARROW_FROM(T, n, I, i, rd)                                                                                      \
  KW_NARROW_FROM(T, n, I, i, ru)                                                                                      \
  KW_NARROW_TO(T, n, I, i, rn, __builtin_rintf)                                                                       \
  KW_NARROW_TO(T, n, I, i, rz, __builtin_truncf)                                                                      \
  KW_NARROW_TO(T, n, I, i, rd, __builtin_floorf)                                                                      \
  KW_NARROW_TO(T, n, I, i, ru, __builtin_ceilf)
#define KW_NARROW_FROM(T, n, I, i, direction)                                                                         \
  template <typename A>                                                                                               \
  KW_DEVICE T __##i##2##n##_##direction(A x) {                                                                        \
    return __float2##n##_##direction(__kw_odd_float(static_cast<I>(x)));                                              \
  }
#define KW_NARROW_TO(T, n, I, i, direction, whole)                                                                    \
  template <typename A>                                                                                               \
  KW_DEVICE I __##n##2##i##_##direction(A a) {                                                                        \
    return __kw_saturated<I>(whole(static_cast<T>(a).__kw_wide()));                                                   \
  }

// Bits, conversions and the putting together of pairs.
#define KW_NARROW_CONVERTERS(T, n, mantissa_bits)                                                                     \
  KW_DEVICE T __ushort_as_##n(unsigned short bits) { return T(T##_raw{bits}); }                                       \
  KW_DEVICE T __short_as_##n(short bits) { return T(T##_raw{static_cast<unsigned short>(bits)}); }                    \
  KW_DEVICE unsigned short __##n##_as_ushort(T a) { return static_cast<T##_raw>(a).x; }                               \
  KW_DEVICE short __##n##_as_short(T a) { return static_cast<short>(static_cast<T##_raw>(a).x); }                     \
  KW_DEVICE T __float2##n(float x) { return T::__kw_round(x);                }                                    \
  KW_DEVICE T __float2##n##_rn(float x) { return __float2##n(x); }                                                    \
  KW_DEVICE T __float2##n##_rz(float x) {                                                                             \
    return __ushort_as_##n(__kw_narrow<mantissa_bits>(x, __kw_direction::zero));                                      \
  }                                                                                                                   \
  KW_DEVICE T __float2##n##_rd(float x) {                                                                             \
    return __ushort_as_##n(__kw_narrow<mantissa_bits>(x, __kw_direction::down));                                      \
  }                                                                                                                   \
  KW_DEVICE T __float2##n##_ru(float x) {                                                                             \
    return __ushort_as_##n(__kw_narrow<mantissa_bits>(x, __kw_direction::up));                                        \
  }                                                                                                                   \
  KW_DEVICE T __double2##n(double x) { return __float2##n(__kw_odd_float(x)); }                                       \
  KW_DEVICE float __##n##2float(T a) { return a.__kw_wide();                   }                          \
  KW_DEVICE T##2 make_##n##2(T x, T y) { return T##2(x, y); }                                                         \
  KW_DEVICE T##2 __halves2##n##2(T x, T y) { return T##2(x, y); }                                                     \
  KW_DEVICE T##2 __##n##2##n##2(T a) { return T##2(a, a); }                                                           \
  KW_DEVICE T __low2##n(T##2 a) { return a.x; }                                                                       \
  KW_DEVICE T __high2##n(T##2 a) { return a.y; }                                                                      \
  KW_DEVICE T##2 __low2##n##2(T##2 a) { return T##2(a.x, a.x); }                                                      \
  KW_DEVICE T##2 __high2##n##2(T##2 a) { return T##2(a.y, a.y); }                                                     \
  KW_DEVICE T##2 __lows2##n##2(T##2 a, T##2 b) { return T##2(a.x, b.x); }                                             \
  KW_DEVICE T##2 __highs2##n##2(T##2 a, T##2 b) { return T##2(a.y, b.y); }                                            \
  KW_DEVICE T##2 __floats2##n##2_rn(float x, float y) {                                                               \
    return __kw_bits<T##2>(__kw_##n##_bits_of_two(x, y));                                                             \
  }                                                                                                                   \
  KW_DEVICE T##2 __float2##n##2_rn(float x) { return __##n##2##n##2(__float2##n(x)); }                                \
  KW_DEVICE T##2 __float22##n##2_rn(float2 a) { return __floats2##n##2_rn(a.x, a.y); }                                \
  KW_DEVICE float2 __##n##22float2(T##2 a) {                                                                          \
    float2 values;                                                                                                    \
    __kw_##n##_values_of_two(__kw_bits<unsigned>(a), values.x, values.y);                                             \
    return values;                                                                                                    \
  }                                                                                                                   \
  KW_NARROW_TO(T, n, signed char, char, rz, __builtin_truncf)                                                         \
  KW_NARROW_TO(T, n, unsigned char, uchar, rz, __builtin_truncf)                                                      \
  KW_NARROW_INTEGER(T, n, short, short)                                                                               \
  KW_NARROW_INTEGER(T, n, unsigned short, ushort)                                                                     \
  KW_NARROW_INTEGER(T, n, int, int)                                                                                   \
  KW_NARROW_INTEGER(T, n, unsigned, uint)                                                                             \
  KW_NARROW_INTEGER(T, n, long long, ll)                                                                              \
  KW_NARROW_INTEGER(T, n, unsigned long long, ull)

// For T and T##2 alike: the functions that the operators are.
#define KW_NARROW_OPERATORS(T, one, add, subtract, multiply, divide, negate)                                          \
  KW_DEVICE T operator+(const T& a, const T& b) { return add(a, b); }                                                 \
  KW_DEVICE T operator-(const T& a, const T& b) { return subtract(a, b); }                                            \
  KW_DEVICE T operator*(const T& a, const T& b) { return multiply(a, b); }                                            \
  KW_DEVICE T operator/(const T& a, const T& b) { return divide(a, b); }                                              \
  KW_DEVICE T& operator+=(T& a, const T& b) { return a = add(a, b); }                                                 \
  KW_DEVICE T& operator-=(T& a, const T& b) { return a = subtract(a, b); }                                            \
  KW_DEVICE T& operator*=(T& a, const T& b) { return a = multiply(a, b); }                                            \
  KW_DEVICE T& operator/=(T& a, const T& b) { return a = divide(a, b); }                                              \
  KW_DEVICE T operator+(const T& a) { return a; }                                                                     \
  KW_DEVICE T operator-(const T& a) { return negate(a); }                                                             \
  KW_DEVICE T& operator++(T& a) { return a = add(a, one); }                                                           \
  KW_DEVICE T& operator--(T& a) { return a = subtract(a, one); }                                                      \
  KW_DEVICE T operator++(T& a, int) {                                                                                 \
    const T before = a;                                                                                               \
    a = add(a, one);                                                                                                  \
    return before;                                                                                                    \
  }                                                                                                                   \
  KW_DEVICE T operator--(T& a, int) {                                                                                 \
    const T before = a;                                                                                               \
    a = subtract(a, one);                                                                                             \
    return before;                                                                                                    \
  }
#define KW_NARROW_RELATIONS(T, eq, neu, lt, gt, le, ge)                                                               \
  KW_DEVICE bool operator==(const T& a, const T& b) { return eq(a, b); }                                              \
  KW_DEVICE bool operator!=(const T& a, const T& b) { return neu(a, b); }                                             \
  KW_DEVICE bool operator<(const T& a, const T& b) { return lt(a, b); }                                               \
  KW_DEVICE bool operator>(const T& a, const T& b) { return gt(a, b); }                                               \
  KW_DEVICE bool operator<=(const T& a, const T& b) { return le(a, b); }                                              \
  KW_DEVICE bool operator>=(const T& a, const T& b) { return ge(a, b); }
#define KW_NARROW_SINGLE_OPERATORS(T, n)                                                                              \
  KW_NARROW_OPERATORS(T, __float2##n(1), __hadd, __hsub, __hmul, __hdiv, __hneg)                                      \
  KW_NARROW_RELATIONS(T, __heq, __hneu, __hlt, __hgt, __hle, __hge)
#define KW_NARROW_PAIR_OPERATORS(T, n)                                                                                \
  KW_NARROW_OPERATORS(T##2, __float2##n##2_rn(1), __hadd2, __hsub2, __hmul2, __h2div, __hneg2)                        \
  KW_NARROW_RELATIONS(T##2, __hbeq2, __hbneu2, __hblt2, __hbgt2, __hble2, __hbge2)
