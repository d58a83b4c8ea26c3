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

// ---- pairs: in the expression, a, b and c are floats of one half. It may be rounded to odd; then it is rounded once.
#define KW_PTX_PAIR(name, n, expression)                                                                     \
  KW_DEVICE unsigned __kw_half_of_##name(unsigned x, unsigned y, unsigned z, unsigned place) {               \
    const float a = __kw_##n##_value(static_cast<unsigned short>(x >> place));                               \
    const float b = __kw_##n##_value(static_cast<unsigned short>(y >> place));                               \
    const float c = __kw_##n##_value(static_cast<unsigned short>(z >> place));                               \
    (void)b, (void)c;                                                                                        \
    return static_cast<unsigned>(__kw_##n##_bits(expression)) << place;                                      \
  }                                                                                                          \
  KW_DEVICE unsigned __kw_pair_##name(unsigned x, unsigned y, unsigned z) {                                  \
    return __kw_half_of_##name(x, y, z, 0) | __kw_half_of_##name(x, y, z, 16);                               \
  }
#define KW_PTX_PAIRS(name, expression)             \
  KW_PTX_PAIR(name##_f16x2, half, expression)      \
  KW_PTX_PAIR(name##_bf16x2, bfloat16, expression) \
  KW_PTX2(name##_f16x2, unsigned, __kw_pair_##name##_f16x2(a, b, 0)) \
  KW_PTX2(name##_bf16x2, unsigned, __kw_pair_##name##_bf16x2(a, b, 0))
KW_PTX_PAIRS(add, a + b)
KW_PTX_PAIRS(sub, a - b)
KW_PTX_PAIRS(mul, a* b)
KW_PTX_PAIRS(max, __kw_ptx_larger(a, b))
KW_PTX_PAIRS(min, __kw_ptx_smaller(a, b))
KW_PTX_PAIR(fma_rn_f16x2, half, __kw_fused<float>(a, b, c))
KW_PTX_PAIR(fma_rn_bf16x2, bfloat16, __kw_fused<double>(a, b, c))
KW_PTX3(fma_rn_f16x2, unsigned, __kw_pair_fma_rn_f16x2(a, b, c))
KW_PTX3(fma_rn_bf16x2, unsigned, __kw_pair_fma_rn_bf16x2(a, b, c))
KW_PTX_PAIR(ex2_approx_f16x2, half, __builtin_exp2f(a))
KW_PTX_PAIR(ex2_approx_ftz_bf16x2, bfloat16, __kw_ptx_flush(__builtin_exp2f(__kw_ptx_flush(a))))
KW_PTX1(ex2_approx_f16x2, unsigned, __kw_pair_ex2_approx_f16x2(a, 0, 0))
KW_PTX1(ex2_approx_ftz_bf16x2, unsigned, __kw_pair_ex2_approx_ftz_bf16x2(a, 0, 0))

#define KW_PTX_ADD_TO_PAIR(suffix)                                                                        \
  template <typename D, typename A, typename B>                                                           \
  KW_DEVICE void __kw_ptx_atom_add_##suffix(D& d, A p, B b) {                                             \
    unsigned* const place = (unsigned*)(size_t)p;                                                         \
    unsigned seen = __atomic_load_n(place, __ATOMIC_RELAXED), next;                                       \
    do {                                                                                                  \
      next = __kw_pair_add_##suffix(seen, __kw_ptx_in<unsigned>(b), 0);                                   \
    } while (!__atomic_compare_exchange_n(place, &seen, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
    __kw_ptx_out<unsigned>(d, seen);                                                                      \
  }                                                                                                       \
  KW_PTX_ATOMIC_ADDS(suffix, __kw_ptx_atom_add_##suffix)
KW_PTX_ADD_TO_PAIR(f16x2)
KW_PTX_ADD_TO_PAIR(bf16x2)
