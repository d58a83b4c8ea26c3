// PTX: pairs of 16-bit numbers, conversions to and from numbers of 16 and 8 bits.
#pragma once

#include "kw_narrow_bits.h"
#include "kw_ptx.h"
#include "kw_ptx_memory.h"

// ---- conversions; of two sources the first becomes the upper half
KW_DEVICE unsigned short __kw_cut_half_bits(float x) { return __kw_narrow<10>(x, __kw_direction::zero); }
KW_DEVICE unsigned short __kw_cut_bfloat16_bits(float x) { return __kw_narrow<7>(x, __kw_direction::zero); }
#define KW_PTX_CVT(name, To, From, expression)   \
  template <typename D, typename A>              \
  KW_DEVICE void __kw_ptx_cvt_##name(D& d, A a_) { \
    const From a = __kw_ptx_in<From>(a_);        \
    __kw_ptx_out<To>(d, expression);             \
  }
KW_PTX_CVT(u32_u64, unsigned, unsigned long long, static_cast<unsigned>(a))
KW_PTX_CVT(u64_u32, unsigned long long, unsigned, a)
KW_PTX_CVT(s64_s32, long long, int, a)
KW_PTX_CVT(u32_u16, unsigned, unsigned short, a)
KW_PTX_CVT(u16_u32, unsigned short, unsigned, static_cast<unsigned short>(a))
KW_PTX_CVT(rn_f32_s32, float, int, static_cast<float>(a))
KW_PTX_CVT(rn_f32_u32, float, unsigned, static_cast<float>(a))
KW_PTX_CVT(rn_f16_f32, unsigned short, float, __kw_half_bits(a))
KW_PTX_CVT(rn_bf16_f32, unsigned short, float, __kw_bfloat16_bits(a))
KW_PTX_CVT(rz_f16_f32, unsigned short, float, __kw_cut_half_bits(a))
KW_PTX_CVT(rz_bf16_f32, unsigned short, float, __kw_cut_bfloat16_bits(a))
KW_PTX_CVT(f32_f16, float, unsigned short, __kw_half_value(a))
KW_PTX_CVT(f32_bf16, float, unsigned short, __kw_bfloat16_value(a))
// tf32 has 10 bits of mantissa. Halves go away from zero.
KW_PTX_CVT(rna_tf32_f32, unsigned, unsigned, (a & 0x7f800000u) == 0x7f800000u ? a : (a + 0x1000u) & 0xffffe000u)

#define KW_PTX_CVT_PAIR(name, To, bits, narrow)                                                            \
  template <typename D, typename A, typename B>                                                            \
  KW_DEVICE void __kw_ptx_cvt_##name(D& d, A a, B b) {                                                     \
    const unsigned upper = narrow(__kw_ptx_in<float>(a)), lower = narrow(__kw_ptx_in<float>(b));           \
    __kw_ptx_out<To>(d, static_cast<To>(upper << bits | lower));                                           \
  }
KW_DEVICE unsigned char __kw_e4m3_bits(float x) { return __kw_fp8_bits(x, true, true); }
KW_DEVICE unsigned char __kw_e5m2_bits(float x) { return __kw_fp8_bits(x, false, true); }
KW_PTX_CVT_PAIR(rn_f16x2_f32, unsigned, 16, __kw_half_bits)
KW_PTX_CVT_PAIR(rn_bf16x2_f32, unsigned, 16, __kw_bfloat16_bits)
KW_PTX_CVT_PAIR(rz_f16x2_f32, unsigned, 16, __kw_cut_half_bits)
KW_PTX_CVT_PAIR(rz_bf16x2_f32, unsigned, 16, __kw_cut_bfloat16_bits)
KW_PTX_CVT_PAIR(rn_satfinite_e4m3x2_f32, unsigned short, 8, __kw_e4m3_bits)
KW_PTX_CVT_PAIR(rn_satfinite_e5m2x2_f32, unsigned short, 8, __kw_e5m2_bits)
KW_DEVICE unsigned __kw_halves_of_fp8(unsigned pair, bool e4m3) {
  return __kw_half_bits(__kw_fp8_value(static_cast<unsigned char>(pair), e4m3)) |
         static_cast<unsigned>(__kw_half_bits(__kw_fp8_value(static_cast<unsigned char>(pair >> 8), e4m3))) << 16;
}
KW_PTX_CVT(rn_f16x2_e4m3x2, unsigned, unsigned short, __kw_halves_of_fp8(a, true))
KW_PTX_CVT(rn_f16x2_e5m2x2, unsigned, unsigned short, __kw_halves_of_fp8(a, false))

// ---- halves and pairs of them. In the expression, a, b and c are floats; it may be rounded to odd, then it is rounded
// once.
#define KW_PTX_HALF(name, suffix, n, expression)                                                              \
  KW_DEVICE unsigned short __kw_single_##name##_##suffix(unsigned x, unsigned y, unsigned z) {                \
    const float a = __kw_##n##_value(static_cast<unsigned short>(x));                                         \
    const float b = __kw_##n##_value(static_cast<unsigned short>(y));                                         \
    const float c = __kw_##n##_value(static_cast<unsigned short>(z));                                         \
    (void)b, (void)c;                                                                                         \
    return __kw_##n##_bits(expression);                                                                       \
  }                                                                                                           \
  KW_DEVICE unsigned __kw_pair_##name##_##suffix(unsigned x, unsigned y, unsigned z) {                        \
    return __kw_single_##name##_##suffix(x, y, z) |                                                           \
           static_cast<unsigned>(__kw_single_##name##_##suffix(x >> 16, y >> 16, z >> 16)) << 16;             \
  }
#define KW_PTX_HALF1(name, suffix, n, expression)                                            \
  KW_PTX_HALF(name, suffix, n, expression)                                                   \
  KW_PTX1(name##_##suffix, unsigned short, __kw_single_##name##_##suffix(a, 0, 0))           \
  KW_PTX1(name##_##suffix##x2, unsigned, __kw_pair_##name##_##suffix(a, 0, 0))
#define KW_PTX_HALF2(name, expression)                                                       \
  KW_PTX_HALF(name, f16, half, expression)                                                   \
  KW_PTX_HALF(name, bf16, bfloat16, expression)                                              \
  KW_PTX2(name##_f16, unsigned short, __kw_single_##name##_f16(a, b, 0))                     \
  KW_PTX2(name##_bf16, unsigned short, __kw_single_##name##_bf16(a, b, 0))                   \
  KW_PTX2(name##_f16x2, unsigned, __kw_pair_##name##_f16(a, b, 0))                           \
  KW_PTX2(name##_bf16x2, unsigned, __kw_pair_##name##_bf16(a, b, 0))
#define KW_PTX_HALF3(name, suffix, n, expression)                                            \
  KW_PTX_HALF(name, suffix, n, expression)                                                   \
  KW_PTX3(name##_##suffix, unsigned short, __kw_single_##name##_##suffix(a, b, c))           \
  KW_PTX3(name##_##suffix##x2, unsigned, __kw_pair_##name##_##suffix(a, b, c))
KW_PTX_HALF2(add, a + b)
KW_PTX_HALF2(sub, a - b)
KW_PTX_HALF2(mul, a* b)
KW_PTX_HALF2(max, __kw_ptx_larger(a, b))
KW_PTX_HALF2(min, __kw_ptx_smaller(a, b))
KW_PTX_HALF2(max_NaN, a != a || b != b ? __builtin_nanf("") : __kw_ptx_larger(a, b))
KW_PTX_HALF2(min_NaN, a != a || b != b ? __builtin_nanf("") : __kw_ptx_smaller(a, b))
KW_DEVICE float __kw_ptx_relu(float x) { return x <= 0 ? 0 : x; }  // a NaN stays one
KW_PTX_HALF3(fma_rn, f16, half, __kw_fused<float>(a, b, c))
KW_PTX_HALF3(fma_rn, bf16, bfloat16, __kw_fused<double>(a, b, c))
KW_PTX_HALF3(fma_rn_relu, f16, half, __kw_ptx_relu(__kw_fused<float>(a, b, c)))
KW_PTX_HALF3(fma_rn_relu, bf16, bfloat16, __kw_ptx_relu(__kw_fused<double>(a, b, c)))
KW_PTX_HALF1(ex2_approx, f16, half, __builtin_exp2f(a))
KW_PTX_HALF1(ex2_approx_ftz, bf16, bfloat16, __kw_ptx_flush(__builtin_exp2f(__kw_ptx_flush(a))))
KW_PTX_HALF1(tanh_approx, f16, half, __builtin_tanhf(a))
KW_PTX_HALF1(tanh_approx, bf16, bfloat16, __builtin_tanhf(a))
KW_PTX1(neg_f16, unsigned short, static_cast<unsigned short>(a ^ 0x8000))
KW_PTX1(abs_f16, unsigned short, static_cast<unsigned short>(a & 0x7fff))
KW_PTX1(neg_f16x2, unsigned, a ^ 0x80008000)
KW_PTX1(abs_f16x2, unsigned, a & 0x7fff7fff)
#define __kw_ptx_neg_bf16 __kw_ptx_neg_f16
#define __kw_ptx_abs_bf16 __kw_ptx_abs_f16
#define __kw_ptx_neg_bf16x2 __kw_ptx_neg_f16x2
#define __kw_ptx_abs_bf16x2 __kw_ptx_abs_f16x2

#define KW_PTX_ADD_TO_HALVES(name, order, T, add)                                                         \
  template <typename D, typename A, typename B>                                                           \
  KW_DEVICE void __kw_ptx_atom_add_##name(D& d, A p, B b) {                                               \
    T* const place = (T*)(size_t)p;                                                                       \
    T seen = __atomic_load_n(place, __ATOMIC_RELAXED), next;                                              \
    do {                                                                                                  \
      next = add(seen, __kw_ptx_in<T>(b), 0);                                                             \
    } while (!__atomic_compare_exchange_n(place, &seen, next, true, order, __ATOMIC_RELAXED));            \
    __kw_ptx_out<T>(d, seen);                                                                             \
  }
#define KW_PTX_ATOMIC_HALVES(suffix)                                                                       \
  KW_SCOPES(KW_PTX_ADD_TO_HALVES, __ATOMIC_RELAXED, suffix, unsigned short, __kw_single_add_##suffix)      \
  KW_SCOPES(KW_PTX_ADD_TO_HALVES, __ATOMIC_RELAXED, suffix##x2, unsigned, __kw_pair_add_##suffix)          \
  KW_PTX_ATOMIC_ADDS(suffix##x2, , __kw_ptx_atom_add_##suffix##x2)                                         \
  KW_PTX_ATOMIC_ADDS(suffix##x2, _block, __kw_ptx_atom_add_##suffix##x2_block)
KW_PTX_ATOMIC_HALVES(f16)
KW_PTX_ATOMIC_HALVES(bf16)
