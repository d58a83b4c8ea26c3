// Mathematics: the C library's functions under CUDA's names, conversions, and the fast-math intrinsics (which are as exact
// as the plain ones here).
#pragma once

#include "kw_integer.h"
#include "kw_language.h"

// float f(float) named NAMEf, double f(double) named NAME, and the overload NAME(float).
#define KW_MATH1(name)                                                              \
  extern "C" double name(double) noexcept;                                          \
  extern "C" float name##f(float) noexcept;                                         \
  KW_DEVICE float name(float x) { return name##f(x); }
#define KW_MATH2(name)                                                              \
  extern "C" double name(double, double) noexcept;                                  \
  extern "C" float name##f(float, float) noexcept;                                  \
  KW_DEVICE float name(float x, float y) { return name##f(x, y); }
KW_MATH1(sin) KW_MATH1(cos) KW_MATH1(tan) KW_MATH1(asin) KW_MATH1(acos) KW_MATH1(atan) KW_MATH1(sinh) KW_MATH1(cosh)
KW_MATH1(tanh) KW_MATH1(asinh) KW_MATH1(acosh) KW_MATH1(atanh) KW_MATH1(exp) KW_MATH1(exp2) KW_MATH1(exp10) KW_MATH1(expm1)
KW_MATH1(log) KW_MATH1(log2) KW_MATH1(log10) KW_MATH1(log1p) KW_MATH1(logb) KW_MATH1(sqrt) KW_MATH1(cbrt) KW_MATH1(erf)
KW_MATH1(erfc) KW_MATH1(tgamma) KW_MATH1(lgamma) KW_MATH1(floor) KW_MATH1(ceil) KW_MATH1(trunc) KW_MATH1(round)
KW_MATH1(rint) KW_MATH1(nearbyint) KW_MATH1(fabs) KW_MATH1(j0) KW_MATH1(j1) KW_MATH1(y0) KW_MATH1(y1)
KW_MATH2(atan2) KW_MATH2(pow) KW_MATH2(fmod) KW_MATH2(remainder) KW_MATH2(hypot) KW_MATH2(fdim) KW_MATH2(copysign)
KW_MATH2(nextafter)
extern "C" {
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept;
double frexp(double, int*) noexcept;
float frexpf(float, int*) noexcept;
double modf(double, double*) noexcept;
float modff(float, float*) noexcept;
double remquo(double, double, int*) noexcept;
float remquof(float, float, int*) noexcept;
void sincos(double, double*, double*) noexcept;
void sincosf(float, float*, float*) noexcept;
int ilogb(double) noexcept;
int ilogbf(float) noexcept;
long lrint(double) noexcept;
long lrintf(float) noexcept;
long long llrint(double) noexcept;
long long llrintf(float) noexcept;
long lround(double) noexcept;
long lroundf(float) noexcept;
long long llround(double) noexcept;
long long llroundf(float) noexcept;
}
#undef KW_MATH1
#undef KW_MATH2
KW_DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KW_DEVICE float ldexp(float x, int n) { return __builtin_ldexpf(x, n); }
KW_DEVICE double scalbn(double x, int n) { return __builtin_ldexp(x, n); }
KW_DEVICE float scalbnf(float x, int n) { return __builtin_ldexpf(x, n); }
KW_DEVICE float frexp(float x, int* n) { return __builtin_frexpf(x, n); }
KW_DEVICE float modf(float x, float* whole) { return __builtin_modff(x, whole); }
KW_DEVICE void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }

// A NaN loses against a number, as in CUDA and in C.
#define KW_EXTREMES(T, suffix)                                                                        \
  KW_DEVICE T fmax##suffix(T x, T y) { return x != x ? y : (y > x ? y : x); }                         \
  KW_DEVICE T fmin##suffix(T x, T y) { return x != x ? y : (y < x ? y : x); }                         \
  KW_DEVICE bool isnan(T x) { return x != x; }                                                        \
  KW_DEVICE bool isinf(T x) { return __builtin_isinf(x); }                                            \
  KW_DEVICE bool isfinite(T x) { return __builtin_isfinite(x); }                                      \
  KW_DEVICE bool signbit(T x) { return __builtin_signbit(x); }                                        \
  KW_DEVICE T abs(T x) { return __builtin_fabs##suffix(x); }                                          \
  KW_DEVICE T rsqrt##suffix(T x) { return 1 / __builtin_sqrt##suffix(x); }                            \
  KW_DEVICE T rcbrt##suffix(T x) { return 1 / cbrt##suffix(x); }                                      \
  KW_DEVICE T rhypot##suffix(T x, T y) { return 1 / hypot##suffix(x, y); }                            \
  KW_DEVICE T norm3d##suffix(T x, T y, T z) { return hypot##suffix(hypot##suffix(x, y), z); }         \
  KW_DEVICE T normcdf##suffix(T x) { return erfc##suffix(x * static_cast<T>(-0.70710678118654752440)) / 2; } \
  KW_DEVICE T sinpi##suffix(T x) { return sin##suffix(static_cast<T>(3.14159265358979323846) * fmod##suffix(x, 2)); } \
  KW_DEVICE T cospi##suffix(T x) { return cos##suffix(static_cast<T>(3.14159265358979323846) * fmod##suffix(x, 2)); } \
  KW_DEVICE void sincospi##suffix(T x, T* sine, T* cosine) { *sine = sinpi##suffix(x); *cosine = cospi##suffix(x); }
KW_EXTREMES(float, f)
KW_EXTREMES(double, )
#undef KW_EXTREMES
KW_DEVICE float fmax(float x, float y) { return fmaxf(x, y); }
KW_DEVICE float fmin(float x, float y) { return fminf(x, y); }
KW_DEVICE float rsqrt(float x) { return rsqrtf(x); }
KW_DEVICE int abs(int x) { return x < 0 ? -x : x; }
KW_DEVICE long abs(long x) { return x < 0 ? -x : x; }
KW_DEVICE long long abs(long long x) { return x < 0 ? -x : x; }
KW_DEVICE long labs(long x) { return abs(x); }
KW_DEVICE long long llabs(long long x) { return abs(x); }

#define KW_MIN_MAX(T)                                             \
  KW_DEVICE constexpr T min(T x, T y) { return y < x ? y : x; }   \
  KW_DEVICE constexpr T max(T x, T y) { return x < y ? y : x; }
KW_MIN_MAX(int) KW_MIN_MAX(unsigned) KW_MIN_MAX(long) KW_MIN_MAX(unsigned long) KW_MIN_MAX(long long)
KW_MIN_MAX(unsigned long long)
#undef KW_MIN_MAX
#define KW_MIXED(A, B, T)                                                                              \
  KW_DEVICE constexpr T min(A x, B y) { return min(static_cast<T>(x), static_cast<T>(y)); }            \
  KW_DEVICE constexpr T max(A x, B y) { return max(static_cast<T>(x), static_cast<T>(y)); }
KW_MIXED(int, unsigned, unsigned) KW_MIXED(unsigned, int, unsigned)
KW_MIXED(long, unsigned long, unsigned long) KW_MIXED(unsigned long, long, unsigned long)
KW_MIXED(long long, unsigned long long, unsigned long long) KW_MIXED(unsigned long long, long long, unsigned long long)
#undef KW_MIXED
KW_DEVICE float min(float x, float y) { return fminf(x, y); }
KW_DEVICE float max(float x, float y) { return fmaxf(x, y); }
KW_DEVICE double min(double x, double y) { return fmin(x, y); }
KW_DEVICE double max(double x, double y) { return fmax(x, y); }
KW_DEVICE double min(float x, double y) { return fmin(static_cast<double>(x), y); }
KW_DEVICE double max(float x, double y) { return fmax(static_cast<double>(x), y); }
KW_DEVICE double min(double x, float y) { return fmin(x, static_cast<double>(y)); }
KW_DEVICE double max(double x, float y) { return fmax(x, static_cast<double>(y)); }

// Fast mathematics.
KW_DEVICE float __expf(float x) { return expf(x); }
KW_DEVICE float __exp10f(float x) { return exp10f(x); }
KW_DEVICE float __logf(float x) { return logf(x); }
KW_DEVICE float __log2f(float x) { return log2f(x); }
KW_DEVICE float __log10f(float x) { return log10f(x); }
KW_DEVICE float __sinf(float x) { return sinf(x); }
KW_DEVICE float __cosf(float x) { return cosf(x); }
KW_DEVICE float __tanf(float x) { return tanf(x); }
KW_DEVICE float __tanhf(float x) { return tanhf(x); }
KW_DEVICE float __powf(float x, float y) { return powf(x, y); }
KW_DEVICE void __sincosf(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
KW_DEVICE float __fdividef(float x, float y) { return x / y; }
KW_DEVICE float fdividef(float x, float y) { return x / y; }
KW_DEVICE float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }

// Arithmetic that the compiler must not contract: each result goes through memory of its own.
#define KW_ROUNDED(T, letter)                                                                                       \
  KW_DEVICE T __kw_alone(T x) { __asm__("" : "+m"(x)); return x; }                                                  \
  KW_DEVICE T __##letter##add_rn(T x, T y) { return __kw_alone(x + y); }                                            \
  KW_DEVICE T __##letter##sub_rn(T x, T y) { return __kw_alone(x - y); }                                            \
  KW_DEVICE T __##letter##mul_rn(T x, T y) { return __kw_alone(x * y); }                                            \
  KW_DEVICE T __##letter##div_rn(T x, T y) { return x / y; }                                                        \
  KW_DEVICE T __##letter##rcp_rn(T x) { return 1 / x; }                                                             \
  KW_DEVICE T __##letter##sqrt_rn(T x) { return sqrt(x); }
KW_ROUNDED(float, f)
KW_ROUNDED(double, d)
#undef KW_ROUNDED
KW_DEVICE float __frsqrt_rn(float x) { return static_cast<float>(1 / __builtin_sqrt(static_cast<double>(x))); }
KW_DEVICE float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KW_DEVICE double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }

// Bits.
KW_DEVICE float __int_as_float(int x) { return __kw_bits<float>(x); }
KW_DEVICE float __uint_as_float(unsigned x) { return __kw_bits<float>(x); }
KW_DEVICE int __float_as_int(float x) { return __kw_bits<int>(x); }
KW_DEVICE unsigned __float_as_uint(float x) { return __kw_bits<unsigned>(x); }
KW_DEVICE long long __double_as_longlong(double x) { return __kw_bits<long long>(x); }
KW_DEVICE double __longlong_as_double(long long x) { return __kw_bits<double>(x); }
KW_DEVICE double __hiloint2double(int high, int low) {
  return __kw_bits<double>(static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low));
}
KW_DEVICE int __double2hiint(double x) { return static_cast<int>(__kw_bits<unsigned long long>(x) >> 32); }
KW_DEVICE int __double2loint(double x) { return static_cast<int>(__kw_bits<unsigned long long>(x)); }

// Floating to integer: out of range gives the nearest end, NaN gives 0 (for 64 bits: the least number).
template <typename To>
KW_DEVICE To __kw_saturated(double whole) {
  constexpr bool is_signed = static_cast<To>(-1) < 0;
  constexpr To most = is_signed ? static_cast<To>(~(static_cast<unsigned long long>(1) << (8 * sizeof(To) - 1))) : static_cast<To>(-1);
  constexpr To least = is_signed ? static_cast<To>(-most - 1) : 0;
  if (whole != whole) return sizeof(To) == 8 ? static_cast<To>(static_cast<unsigned long long>(1) << 63) : 0;
  if (whole >= static_cast<double>(most)) return most;
  if (whole <= static_cast<double>(least)) return least;
  return static_cast<To>(whole);
}
#define KW_TO_INTEGER(From, from, To, to)                                                                 \
  KW_DEVICE To __##from##2##to##_rn(From x) { return __kw_saturated<To>(__builtin_nearbyint(x)); }        \
  KW_DEVICE To __##from##2##to##_rz(From x) { return __kw_saturated<To>(__builtin_trunc(x)); }            \
  KW_DEVICE To __##from##2##to##_ru(From x) { return __kw_saturated<To>(__builtin_ceil(x)); }             \
  KW_DEVICE To __##from##2##to##_rd(From x) { return __kw_saturated<To>(__builtin_floor(x)); }
KW_TO_INTEGER(float, float, int, int)
KW_TO_INTEGER(float, float, unsigned, uint)
KW_TO_INTEGER(float, float, long long, ll)
KW_TO_INTEGER(float, float, unsigned long long, ull)
KW_TO_INTEGER(double, double, int, int)
KW_TO_INTEGER(double, double, unsigned, uint)
KW_TO_INTEGER(double, double, long long, ll)
KW_TO_INTEGER(double, double, unsigned long long, ull)
#undef KW_TO_INTEGER

// To floating, rounded to nearest; the other directions step to the neighbour on that side where the nearest lies beyond.
KW_DEVICE float __double2float_rn(double x) { return static_cast<float>(x); }
KW_DEVICE float __double2float_rd(double x) {
  const float near = static_cast<float>(x);
  return static_cast<double>(near) > x ? nextafterf(near, -__builtin_inff()) : near;
}
KW_DEVICE float __double2float_ru(double x) {
  const float near = static_cast<float>(x);
  return static_cast<double>(near) < x ? nextafterf(near, __builtin_inff()) : near;
}
KW_DEVICE float __double2float_rz(double x) { return x < 0 ? __double2float_ru(x) : __double2float_rd(x); }
#define KW_FROM_INTEGER(From, from)                                                   \
  KW_DEVICE float __##from##2float_rn(From x) { return static_cast<float>(x); }       \
  KW_DEVICE double __##from##2double_rn(From x) { return static_cast<double>(x); }
KW_FROM_INTEGER(int, int)
KW_FROM_INTEGER(unsigned, uint)
KW_FROM_INTEGER(long long, ll)
KW_FROM_INTEGER(unsigned long long, ull)
#undef KW_FROM_INTEGER
#define KW_FROM_32_BITS(From, from)                                                                                  \
  KW_DEVICE float __##from##2float_rd(From x) { return __double2float_rd(static_cast<double>(x)); }                  \
  KW_DEVICE float __##from##2float_ru(From x) { return __double2float_ru(static_cast<double>(x)); }                  \
  KW_DEVICE float __##from##2float_rz(From x) { return __double2float_rz(static_cast<double>(x)); }
KW_FROM_32_BITS(int, int)
KW_FROM_32_BITS(unsigned, uint)
#undef KW_FROM_32_BITS
