// CUDA's qualifiers and vector types.
#pragma once

#include "kw_abi.h"

#ifdef KW_HIP
#define __HIP__ 1
#define __HIPCC__ 1
#define __HIPCC_RTC__ 1
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __AMDGCN__ 1
#define __AMDGCN_WAVEFRONT_SIZE KW_WAVE
#define __AMDGCN_WAVEFRONT_SIZE__ KW_WAVE
#if KW_WAVE == 64  // the least that solutions are written for
#define __gfx90a__ 1
#define __GFX9__ 1
#else
#define __gfx1030__ 1
#define __GFX10__ 1
#endif
#else
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#ifdef KW_ARCH
#define __CUDA_ARCH__ KW_ARCH
#else
#define __CUDA_ARCH__ 800  // the least that solutions are written for
#endif
#endif

#define __global__
#define __device__
#define __host__
#define __constant__ const
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define NULL 0

// Macros that the headers of this folder define.
#define KW_DEVICE static inline __attribute__((always_inline))

#define KW_VECTOR(T, name, align1, align2, align4)                                                  \
  struct __attribute__((aligned(align1))) name##1 { T x; };                                         \
  struct __attribute__((aligned(align2))) name##2 { T x, y; };                                      \
  struct name##3 { T x, y, z; };                                                                    \
  struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; };                                \
  KW_DEVICE constexpr name##1 make_##name##1(T x) { return name##1{x}; }                            \
  KW_DEVICE constexpr name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                    \
  KW_DEVICE constexpr name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; }            \
  KW_DEVICE constexpr name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }
#define uint3 uint3_of_kw_abi  // kw_abi.h has it, since threadIdx is one
#define make_uint3 make_uint3_of_kw_abi
KW_VECTOR(signed char, char, 1, 2, 4)
KW_VECTOR(unsigned char, uchar, 1, 2, 4)
KW_VECTOR(short, short, 2, 4, 8)
KW_VECTOR(unsigned short, ushort, 2, 4, 8)
KW_VECTOR(int, int, 4, 8, 16)
KW_VECTOR(unsigned, uint, 4, 8, 16)
KW_VECTOR(long, long, 8, 16, 16)
KW_VECTOR(unsigned long, ulong, 8, 16, 16)
KW_VECTOR(long long, longlong, 8, 16, 16)
KW_VECTOR(unsigned long long, ulonglong, 8, 16, 16)
KW_VECTOR(float, float, 4, 8, 16)
KW_VECTOR(double, double, 8, 16, 16)
#undef uint3
#undef make_uint3
#undef KW_VECTOR
KW_DEVICE constexpr uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return uint3{x, y, z}; }

template <typename To, typename From>
KW_DEVICE To __kw_bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To result;
  __builtin_memcpy(&result, &value, sizeof result);
  return result;
}

// NVRTC predefines these of namespace std.
namespace std {
template <typename T> struct remove_reference { typedef T type; };
template <typename T> struct remove_reference<T&> { typedef T type; };
template <typename T> struct remove_reference<T&&> { typedef T type; };
template <typename T> constexpr typename remove_reference<T>::type&& move(T&& t) { return static_cast<typename remove_reference<T>::type&&>(t); }
template <typename T> constexpr T&& forward(typename remove_reference<T>::type& t) { return static_cast<T&&>(t); }
template <typename T> constexpr T&& forward(typename remove_reference<T>::type&& t) { return static_cast<T&&>(t); }
template <typename E> class initializer_list {
  const E* begin_;
  size_t size_;
  constexpr initializer_list(const E* begin, size_t size) : begin_(begin), size_(size) {}

 public:
  constexpr initializer_list() : begin_(nullptr), size_(0) {}
  constexpr size_t size() const { return size_; }
  constexpr const E* begin() const { return begin_; }
  constexpr const E* end() const { return begin_ + size_; }
};
}  // namespace std
