// The PTX instructions of sandbox/cpu/compiler/ptx_table.h as functions, called where a solution has inline assembly. Operands:
// destinations first, then sources of any type of the instruction's size (their bits count), addresses as pointers or
// integers. Approximate mathematics is as exact as the C library's; `.ftz` flushes subnormal operands and results.
#pragma once

#include "kw_integer.h"
#include "kw_math.h"
#include "kw_threads.h"

template <typename To, typename From>
KW_DEVICE To __kw_ptx_in(From value) {
  if constexpr (sizeof(To) == sizeof(From)) {
    return __kw_bits<To>(value);
  } else {
    return static_cast<To>(value);  // a number in the instruction's text
  }
}
template <typename From, typename To>
KW_DEVICE void __kw_ptx_out(To& destination, From value) {
  static_assert(sizeof(To) == sizeof(From), "a destination of inline PTX is not of the instruction's size");
  destination = __kw_bits<To>(value);
}
// In bytes, so that [%0 + 16] is what it says when the operand is a pointer.
template <typename A>
KW_DEVICE size_t __kw_ptx_address(A address) {
  return (size_t)address;
}

// Instructions of one to three sources, all of type T, named a, b, c in the expression.
#define KW_PTX1(name, T, ...)                      \
  template <typename D, typename A>                \
  KW_DEVICE void __kw_ptx_##name(D& d, A a_) {     \
    const T a = __kw_ptx_in<T>(a_);                \
    __kw_ptx_out<T>(d, __VA_ARGS__);               \
  }
#define KW_PTX2(name, T, ...)                                      \
  template <typename D, typename A, typename B>                    \
  KW_DEVICE void __kw_ptx_##name(D& d, A a_, B b_) {               \
    const T a = __kw_ptx_in<T>(a_), b = __kw_ptx_in<T>(b_);        \
    __kw_ptx_out<T>(d, __VA_ARGS__);                               \
  }
#define KW_PTX3(name, T, ...)                                                               \
  template <typename D, typename A, typename B, typename C>                                 \
  KW_DEVICE void __kw_ptx_##name(D& d, A a_, B b_, C c_) {                                  \
    const T a = __kw_ptx_in<T>(a_), b = __kw_ptx_in<T>(b_), c = __kw_ptx_in<T>(c_);         \
    __kw_ptx_out<T>(d, __VA_ARGS__);                                                        \
  }

// ---- mov, also between one register and {low, high}
KW_PTX1(mov_u32, unsigned, a)
KW_PTX1(mov_b32, unsigned, a)
KW_PTX1(mov_f32, float, a)
#define __kw_ptx_mov_s32 __kw_ptx_mov_u32
KW_PTX1(mov_u64, unsigned long long, a)
KW_PTX1(mov_b64, unsigned long long, a)
#define KW_PTX_PACK(name, Whole, Half)                                                                               \
  template <typename A, typename B, typename C>                                                                      \
  KW_DEVICE void __kw_ptx_##name(A&& a, B&& b, C&& c) {                                                              \
    if constexpr (sizeof(A) == sizeof(Whole)) {                                                                      \
      __kw_ptx_out<Whole>(a, static_cast<Whole>(static_cast<Whole>(__kw_ptx_in<Half>(c)) << 8 * sizeof(Half) |       \
                                                __kw_ptx_in<Half>(b)));                                              \
    } else {                                                                                                         \
      const Whole whole = __kw_ptx_in<Whole>(c);                                                                     \
      __kw_ptx_out<Half>(a, static_cast<Half>(whole));                                                               \
      __kw_ptx_out<Half>(b, static_cast<Half>(whole >> 8 * sizeof(Half)));                                           \
    }                                                                                                                \
  }
KW_PTX_PACK(mov_b32, unsigned, unsigned short)
KW_PTX_PACK(mov_b64, unsigned long long, unsigned)

// ---- loads and stores; the cache hints mean nothing here
#define KW_PTX_LOAD(name, T)                              \
  template <typename D, typename A>                       \
  KW_DEVICE void __kw_ptx_ld_global_##name(D& d, A p) {   \
    __kw_ptx_out<T>(d, *(const T*)(size_t)p);             \
  }
#define KW_PTX_LOAD2(name, T)                                                     \
  template <typename D, typename E, typename A>                                   \
  KW_DEVICE void __kw_ptx_ld_global_##name(D& d, E& e, A p) {                     \
    typedef T V __attribute__((vector_size(2 * sizeof(T))));                      \
    const V v = *(const V*)(size_t)p;                                             \
    __kw_ptx_out<T>(d, v[0]), __kw_ptx_out<T>(e, v[1]);                           \
  }
#define KW_PTX_LOAD4(name, T)                                                                 \
  template <typename D, typename E, typename F, typename G, typename A>                       \
  KW_DEVICE void __kw_ptx_ld_global_##name(D& d, E& e, F& f, G& g, A p) {                     \
    typedef T V __attribute__((vector_size(4 * sizeof(T))));                                  \
    const V v = *(const V*)(size_t)p;                                                         \
    __kw_ptx_out<T>(d, v[0]), __kw_ptx_out<T>(e, v[1]), __kw_ptx_out<T>(f, v[2]), __kw_ptx_out<T>(g, v[3]); \
  }
#define KW_PTX_STORE(name, T)                             \
  template <typename A, typename S>                       \
  KW_DEVICE void __kw_ptx_st_global_##name(A p, S s) {    \
    *(T*)(size_t)p = __kw_ptx_in<T>(s);                   \
  }
#define KW_PTX_STORE2(name, T)                                          \
  template <typename A, typename S, typename U>                         \
  KW_DEVICE void __kw_ptx_st_global_##name(A p, S s, U u) {             \
    typedef T V __attribute__((vector_size(2 * sizeof(T))));            \
    *(V*)(size_t)p = V{__kw_ptx_in<T>(s), __kw_ptx_in<T>(u)};           \
  }
#define KW_PTX_STORE4(name, T)                                                                                      \
  template <typename A, typename S, typename U, typename W, typename X>                                             \
  KW_DEVICE void __kw_ptx_st_global_##name(A p, S s, U u, W w, X x) {                                               \
    typedef T V __attribute__((vector_size(4 * sizeof(T))));                                                        \
    *(V*)(size_t)p = V{__kw_ptx_in<T>(s), __kw_ptx_in<T>(u), __kw_ptx_in<T>(w), __kw_ptx_in<T>(x)};                 \
  }
KW_PTX_LOAD(f32, float)
KW_PTX_LOAD(u32, unsigned)
KW_PTX_LOAD(u64, unsigned long long)
KW_PTX_LOAD2(v2_f32, float)
KW_PTX_LOAD2(v2_u32, unsigned)
KW_PTX_LOAD4(v4_f32, float)
KW_PTX_LOAD4(v4_u32, unsigned)
KW_PTX_STORE(f32, float)
KW_PTX_STORE(u32, unsigned)
KW_PTX_STORE2(v2_f32, float)
KW_PTX_STORE2(v2_u32, unsigned)
KW_PTX_STORE4(v4_f32, float)
KW_PTX_STORE4(v4_u32, unsigned)
// Macros, since a template of its own for each would cost every compile two milliseconds.
#define __kw_ptx_ld_global_s32 __kw_ptx_ld_global_u32
#define __kw_ptx_ld_global_b32 __kw_ptx_ld_global_u32
#define __kw_ptx_ld_global_v4_s32 __kw_ptx_ld_global_v4_u32
#define __kw_ptx_ld_global_v4_b32 __kw_ptx_ld_global_v4_u32
#define __kw_ptx_ld_global_nc_f32 __kw_ptx_ld_global_f32
#define __kw_ptx_ld_global_nc_u32 __kw_ptx_ld_global_u32
#define __kw_ptx_ld_global_nc_s32 __kw_ptx_ld_global_u32
#define __kw_ptx_ld_global_nc_b32 __kw_ptx_ld_global_u32
#define __kw_ptx_ld_global_nc_v2_f32 __kw_ptx_ld_global_v2_f32
#define __kw_ptx_ld_global_nc_v2_u32 __kw_ptx_ld_global_v2_u32
#define __kw_ptx_ld_global_nc_v4_f32 __kw_ptx_ld_global_v4_f32
#define __kw_ptx_ld_global_nc_v4_u32 __kw_ptx_ld_global_v4_u32
#define __kw_ptx_ld_global_nc_v4_s32 __kw_ptx_ld_global_v4_u32
#define __kw_ptx_ld_global_nc_v4_b32 __kw_ptx_ld_global_v4_u32
#define __kw_ptx_ld_global_nc_L1__no_allocate_f32 __kw_ptx_ld_global_f32
#define __kw_ptx_ld_global_nc_L1__no_allocate_v4_f32 __kw_ptx_ld_global_v4_f32
#define __kw_ptx_ld_global_nc_L1__no_allocate_v4_u32 __kw_ptx_ld_global_v4_u32
#define __kw_ptx_ld_global_nc_L1__no_allocate_v4_s32 __kw_ptx_ld_global_v4_u32
#define __kw_ptx_ld_global_cs_f32 __kw_ptx_ld_global_f32
#define __kw_ptx_ld_global_cg_f32 __kw_ptx_ld_global_f32
#define __kw_ptx_ld_global_ca_f32 __kw_ptx_ld_global_f32
#define __kw_ptx_ld_global_cs_v4_f32 __kw_ptx_ld_global_v4_f32
#define __kw_ptx_ld_global_cg_v4_f32 __kw_ptx_ld_global_v4_f32
#define __kw_ptx_st_global_s32 __kw_ptx_st_global_u32
#define __kw_ptx_st_global_b32 __kw_ptx_st_global_u32
#define __kw_ptx_st_global_v4_s32 __kw_ptx_st_global_v4_u32
#define __kw_ptx_st_global_v4_b32 __kw_ptx_st_global_v4_u32
#define __kw_ptx_st_global_cs_f32 __kw_ptx_st_global_f32
#define __kw_ptx_st_global_wt_f32 __kw_ptx_st_global_f32
#define __kw_ptx_st_global_cg_f32 __kw_ptx_st_global_f32
#define __kw_ptx_st_global_cs_v4_f32 __kw_ptx_st_global_v4_f32
#define __kw_ptx_st_global_L1__no_allocate_v4_f32 __kw_ptx_st_global_v4_f32
template <typename A>
KW_DEVICE void __kw_ptx_prefetch_global_L1(A) {}
#define __kw_ptx_prefetch_global_L2 __kw_ptx_prefetch_global_L1

// ---- bits and integers
KW_DEVICE unsigned __kw_ptx_field(unsigned length) { return length > 31 ? ~0u : (1u << length) - 1; }
KW_DEVICE unsigned __kw_ptx_extract(unsigned a, unsigned at, unsigned length, bool is_signed) {
  at &= 255, length &= 255;
  const unsigned field = __kw_ptx_field(length), bits = (at > 31 ? 0 : a >> at) & field;
  const unsigned last = at + length - 1 > 31 ? 31 : at + length - 1;
  const bool negative = is_signed && length != 0 && (a >> last & 1) != 0;
  // Bits past those of `a` and past the field repeat its last one.
  return negative ? bits | ~(field & (at > 31 ? 0 : ~0u >> at)) : bits;
}
KW_DEVICE unsigned __kw_ptx_insert(unsigned a, unsigned b, unsigned at, unsigned length) {
  at &= 255, length &= 255;
  const unsigned field = at > 31 ? 0 : __kw_ptx_field(length) << at;
  return (b & ~field) | ((at > 31 ? 0 : a << at) & field);
}
KW_DEVICE unsigned __kw_ptx_look_up(unsigned a, unsigned b, unsigned c, unsigned table) {
  unsigned result = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  }
  return result;
}
KW_PTX3(prmt_b32, unsigned, __byte_perm(a, b, c))
KW_PTX3(bfe_u32, unsigned, __kw_ptx_extract(a, b, c, false))
KW_PTX3(bfe_s32, unsigned, __kw_ptx_extract(a, b, c, true))
#define KW_PTX4(name, function)                                                                         \
  template <typename D, typename A, typename B, typename C, typename E>                                 \
  KW_DEVICE void __kw_ptx_##name(D& d, A a, B b, C c, E e) {                                            \
    __kw_ptx_out<unsigned>(d, function(__kw_ptx_in<unsigned>(a), __kw_ptx_in<unsigned>(b),              \
                                       __kw_ptx_in<unsigned>(c), __kw_ptx_in<unsigned>(e)));            \
  }
KW_PTX4(lop3_b32, __kw_ptx_look_up)
KW_PTX4(bfi_b32, __kw_ptx_insert)
KW_PTX3(shf_l_wrap_b32, unsigned, __funnelshift_l(a, b, c))
KW_PTX3(shf_r_wrap_b32, unsigned, __funnelshift_r(a, b, c))
KW_PTX1(brev_b32, unsigned, __brev(a))
KW_PTX1(popc_b32, unsigned, static_cast<unsigned>(__popc(a)))
KW_PTX1(clz_b32, unsigned, static_cast<unsigned>(__clz(static_cast<int>(a))))
KW_PTX3(mad_lo_u32, unsigned, a* b + c)
#define __kw_ptx_mad_lo_s32 __kw_ptx_mad_lo_u32
KW_PTX2(mul_hi_u32, unsigned, __umulhi(a, b))
KW_PTX2(mul_hi_s32, int, __mulhi(a, b))
KW_PTX3(dp4a_s32_s32, int, __dp4a(a, b, c))
KW_PTX3(dp4a_u32_u32, unsigned, __dp4a(a, b, c))

// ---- floating point
KW_DEVICE float __kw_ptx_flush(float x) {
  return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x;
}
// +0 is more than -0; a NaN loses against a number.
KW_DEVICE float __kw_ptx_max(float a, float b) {
  if (a != a) return b;
  return b > a || (a == b && __builtin_signbit(a)) ? b : a;
}
KW_DEVICE float __kw_ptx_min(float a, float b) {
  if (a != a) return b;
  return b < a || (a == b && __builtin_signbit(b)) ? b : a;
}
KW_PTX3(fma_rn_f32, float, __builtin_fmaf(a, b, c))
KW_PTX3(fma_rn_ftz_f32, float, __kw_ptx_flush(__builtin_fmaf(__kw_ptx_flush(a), __kw_ptx_flush(b), __kw_ptx_flush(c))))
KW_PTX2(add_f32, float, a + b)
KW_PTX2(sub_f32, float, a - b)
KW_PTX2(mul_f32, float, a* b)
KW_PTX2(add_rn_f32, float, __fadd_rn(a, b))
KW_PTX2(mul_rn_f32, float, __fmul_rn(a, b))
KW_PTX2(max_f32, float, __kw_ptx_max(a, b))
KW_PTX2(min_f32, float, __kw_ptx_min(a, b))
KW_PTX2(max_NaN_f32, float, a != a || b != b ? __builtin_nanf("") : __kw_ptx_max(a, b))
KW_PTX2(min_NaN_f32, float, a != a || b != b ? __builtin_nanf("") : __kw_ptx_min(a, b))
KW_PTX2(div_approx_f32, float, a / b)
#define __kw_ptx_div_full_f32 __kw_ptx_div_approx_f32
// NAME.approx.f32 and NAME.approx.ftz.f32
#define KW_PTX_APPROX(name, function)          \
  KW_PTX1(name##_approx_f32, float, function(a)) \
  KW_PTX1(name##_approx_ftz_f32, float, __kw_ptx_flush(function(__kw_ptx_flush(a))))
KW_DEVICE float __kw_ptx_reciprocal(float x) { return 1.0f / x; }
KW_DEVICE float __kw_ptx_rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
KW_PTX_APPROX(ex2, __builtin_exp2f)
KW_PTX_APPROX(lg2, __builtin_log2f)
KW_PTX_APPROX(rcp, __kw_ptx_reciprocal)
KW_PTX_APPROX(rsqrt, __kw_ptx_rsqrt)
KW_PTX_APPROX(sqrt, __builtin_sqrtf)
#define __kw_ptx_rcp_rn_f32 __kw_ptx_rcp_approx_f32
#define __kw_ptx_sqrt_rn_f32 __kw_ptx_sqrt_approx_f32
KW_PTX1(sin_approx_f32, float, __builtin_sinf(a))
KW_PTX1(cos_approx_f32, float, __builtin_cosf(a))
KW_PTX1(tanh_approx_f32, float, __builtin_tanhf(a))

// ---- threads
template <typename A>
KW_DEVICE void __kw_ptx_bar_warp_sync(A mask) {
  __syncwarp(__kw_ptx_in<unsigned>(mask));
}
#define __kw_ptx_membar_cta __threadfence_block
#define __kw_ptx_membar_gl __threadfence
#define __kw_ptx_membar_sys __threadfence_system
#define __kw_ptx_fence_acq_rel_cta __threadfence_block
#define __kw_ptx_fence_acq_rel_gpu __threadfence
template <typename D>
KW_DEVICE void __kw_ptx_activemask_b32(D& d) {
  __kw_ptx_out<unsigned>(d, __activemask());
}
#define KW_PTX_REDUX(operation, suffix, T)                                                                        \
  template <typename D, typename A, typename M>                                                                  \
  KW_DEVICE void __kw_ptx_redux_sync_##operation##_##suffix(D& d, A a, M mask) {                                  \
    __kw_ptx_out<T>(d, __reduce_##operation##_sync(__kw_ptx_in<unsigned>(mask), __kw_ptx_in<T>(a)));              \
  }
KW_PTX_REDUX(add, s32, int)
KW_PTX_REDUX(add, u32, unsigned)
KW_PTX_REDUX(max, s32, int)
KW_PTX_REDUX(max, u32, unsigned)
KW_PTX_REDUX(min, s32, int)
KW_PTX_REDUX(min, u32, unsigned)
KW_DEVICE void __kw_ptx_trap() { __kw_trap("trap"); }
template <typename A>
KW_DEVICE void __kw_ptx_nanosleep_u32(A) {
  __kw_yield();
}

// ---- special registers
#define KW_PTX_REGISTER(name, T, value) \
  KW_DEVICE T __kw_ptx_register_##name() { return value; }
#define KW_PTX_REGISTER3(name, value)         \
  KW_PTX_REGISTER(name##_x, unsigned, value.x) \
  KW_PTX_REGISTER(name##_y, unsigned, value.y) \
  KW_PTX_REGISTER(name##_z, unsigned, value.z)
KW_PTX_REGISTER3(tid, threadIdx)
KW_PTX_REGISTER3(ntid, blockDim)
KW_PTX_REGISTER3(ctaid, blockIdx)
KW_PTX_REGISTER3(nctaid, gridDim)
KW_PTX_REGISTER(laneid, unsigned, __kw_lane())
KW_PTX_REGISTER(warpid, unsigned, __kw_thread_rank() / 32)
KW_PTX_REGISTER(lanemask_eq, unsigned, 1u << __kw_lane())
KW_PTX_REGISTER(lanemask_lt, unsigned, (1u << __kw_lane()) - 1)
KW_PTX_REGISTER(lanemask_le, unsigned, (2u << __kw_lane()) - 1)
KW_PTX_REGISTER(lanemask_gt, unsigned, ~__kw_ptx_register_lanemask_le())
KW_PTX_REGISTER(lanemask_ge, unsigned, ~__kw_ptx_register_lanemask_lt())
KW_PTX_REGISTER(clock, unsigned, static_cast<unsigned>(__kw_clock()))
KW_PTX_REGISTER(clock64, unsigned long long, static_cast<unsigned long long>(__kw_clock()))
KW_PTX_REGISTER(globaltimer, unsigned long long, static_cast<unsigned long long>(__kw_clock()))
