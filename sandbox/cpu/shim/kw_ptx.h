// The PTX instructions of sandbox/cpu/compiler/ptx_instructions.cpp as functions, called where a solution has inline
// assembly. Operands: destinations first, then sources of any type of the instruction's size (their bits count), addresses
// as pointers or integers. Where the instruction's type is a template argument, it is the first. Approximate mathematics
// is as exact as the C library's; `.ftz` flushes subnormal operands and results.
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
// `_`: a destination that nobody wants.
struct __kw_ptx_nothing {};
static constexpr __kw_ptx_nothing __kw_ptx_nowhere{};
template <typename From>
KW_DEVICE void __kw_ptx_out(const __kw_ptx_nothing&, From) {}
// In bytes, so that [%0 + 16] is what it says when the operand is a pointer.
template <typename A>
KW_DEVICE size_t __kw_ptx_address(A address) {
  return (size_t)address;
}

// The generic address of one in shared memory.
template <typename A>
KW_DEVICE size_t __kw_ptx_shared(A address) {
  return __kw_shared_window + static_cast<unsigned>((size_t)address);
}

// Elements of matrices, numbered as sandbox/cpu/runtime/products.h does.
enum __kw_number : unsigned { __kw_f16, __kw_bf16, __kw_tf32, __kw_e4m3, __kw_e5m2, __kw_s8, __kw_u8 };

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

// The same for any type T, which is the first template argument.
#define KW_PTX_ANY1(name, ...)                                   \
  template <typename T, typename D, typename A>                  \
  KW_DEVICE void __kw_ptx_##name(D& d, A a_) {                   \
    const T a = __kw_ptx_in<T>(a_);                              \
    __kw_ptx_out<T>(d, static_cast<T>(__VA_ARGS__));             \
  }
KW_DEVICE int __kw_ptx_absolute(int x) { return x < 0 ? -x : x; }
KW_DEVICE long long __kw_ptx_absolute(long long x) { return x < 0 ? -x : x; }
KW_DEVICE float __kw_ptx_absolute(float x) { return __builtin_fabsf(x); }
#define KW_PTX_ANY2(name, ...)                                             \
  template <typename T, typename D, typename A, typename B>                \
  KW_DEVICE void __kw_ptx_##name(D& d, A a_, B b_) {                       \
    const T a = __kw_ptx_in<T>(a_), b = __kw_ptx_in<T>(b_);                \
    __kw_ptx_out<T>(d, static_cast<T>(__VA_ARGS__));                       \
  }

// ---- mov, also between one register and {low, high}
KW_PTX1(mov_u32, unsigned, a)
KW_PTX1(mov_b32, unsigned, a)
KW_PTX1(mov_f32, float, a)
#define __kw_ptx_mov_s32 __kw_ptx_mov_u32
KW_PTX1(mov_u64, unsigned long long, a)
KW_PTX1(mov_b64, unsigned long long, a)
KW_PTX_ANY1(mov, a)
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

// ---- hints
template <typename A>
KW_DEVICE void __kw_ptx_prefetch_L1(A) {}
#define __kw_ptx_prefetch_L2 __kw_ptx_prefetch_L1
#define __kw_ptx_prefetchu_L1 __kw_ptx_prefetch_L1
template <typename A, typename B>
KW_DEVICE void __kw_ptx_applypriority_L2__evict_normal(A, B) {}

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

// The shift counts up to 32 bits, and beyond the width of T all bits are gone.
template <typename T, typename D, typename A, typename B>
KW_DEVICE void __kw_ptx_shl(D& d, A a, B b) {
  const unsigned by = __kw_ptx_in<unsigned>(b);
  __kw_ptx_out<T>(d, static_cast<T>(by >= 8 * sizeof(T) ? T(0) : __kw_ptx_in<T>(a) << by));
}
template <typename T, typename D, typename A, typename B>
KW_DEVICE void __kw_ptx_shr(D& d, A a, B b) {
  const unsigned by = __kw_ptx_in<unsigned>(b), most = 8 * sizeof(T) - 1;
  const T value = __kw_ptx_in<T>(a);
  __kw_ptx_out<T>(d, static_cast<T>(by <= most ? value >> by : value >> most >> 1));
}
KW_PTX_ANY2(and, a& b)
KW_PTX_ANY2(or, a | b)
KW_PTX_ANY2(xor, a ^ b)
KW_PTX_ANY1(not, sizeof(T) == 1 ? a ^ 1 : ~static_cast<long long>(a))  // a predicate has one bit
KW_PTX_ANY2(add, a + b)
KW_PTX_ANY2(sub, a - b)
KW_PTX_ANY2(mul_lo, a* b)
KW_PTX_ANY2(min, b < a ? b : a)
KW_PTX_ANY2(max, b > a ? b : a)
KW_PTX_ANY2(div, a / b)
KW_PTX_ANY2(rem, a % b)
KW_PTX_ANY1(neg, -a)
KW_PTX_ANY1(abs, __kw_ptx_absolute(a))
template <typename T, typename D, typename A, typename B, typename C>
KW_DEVICE void __kw_ptx_mad_lo(D& d, A a, B b, C c) {
  __kw_ptx_out<T>(d, __kw_ptx_in<T>(a) * __kw_ptx_in<T>(b) + __kw_ptx_in<T>(c));
}
#define KW_PTX_WIDE(name, To, From, expression)  \
  template <typename D, typename A, typename B>  \
  KW_DEVICE void __kw_ptx_##name(D& d, A a_, B b_) { \
    const From a = __kw_ptx_in<From>(a_), b = __kw_ptx_in<From>(b_); \
    __kw_ptx_out<To>(d, expression); \
  }
KW_PTX_WIDE(mul_wide_u32, unsigned long long, unsigned, static_cast<unsigned long long>(a) * b)
KW_PTX_WIDE(mul_wide_s32, long long, int, static_cast<long long>(a) * b)

// ---- predicates: bool
template <typename T, typename D, typename A, typename B, typename P>
KW_DEVICE void __kw_ptx_selp(D& d, A a, B b, P p) {
  __kw_ptx_out<T>(d, p ? __kw_ptx_in<T>(a) : __kw_ptx_in<T>(b));
}
// Also with a second destination, which gets the contrary, and combined with another predicate. No comparison holds for
// a NaN.
#define KW_PTX_SETP(name, expression)                                                     \
  template <typename T>                                                                   \
  KW_DEVICE bool __kw_ptx_is_##name(T a, T b) { return expression; }                      \
  template <typename T, typename P, typename A, typename B>                               \
  KW_DEVICE void __kw_ptx_setp_##name(P& p, A a, B b) {                                   \
    __kw_ptx_out<bool>(p, __kw_ptx_is_##name<T>(__kw_ptx_in<T>(a), __kw_ptx_in<T>(b)));   \
  }                                                                                       \
  template <typename T, typename P, typename Q, typename A, typename B>                   \
  KW_DEVICE void __kw_ptx_setp_##name(P& p, Q& q, A a, B b) {                             \
    const bool is = __kw_ptx_is_##name<T>(__kw_ptx_in<T>(a), __kw_ptx_in<T>(b));          \
    __kw_ptx_out<bool>(p, is), __kw_ptx_out<bool>(q, !is);                                \
  }                                                                                       \
  template <typename T, typename P, typename A, typename B>                               \
  KW_DEVICE void __kw_ptx_setp_##name##_and(P& p, A a, B b, bool c) {                     \
    __kw_ptx_out<bool>(p, __kw_ptx_is_##name<T>(__kw_ptx_in<T>(a), __kw_ptx_in<T>(b)) && c); \
  }                                                                                       \
  template <typename T, typename P, typename A, typename B>                               \
  KW_DEVICE void __kw_ptx_setp_##name##_or(P& p, A a, B b, bool c) {                      \
    __kw_ptx_out<bool>(p, __kw_ptx_is_##name<T>(__kw_ptx_in<T>(a), __kw_ptx_in<T>(b)) || c); \
  }
KW_PTX_SETP(eq, a == b)
KW_PTX_SETP(ne, a < b || a > b)
KW_PTX_SETP(lt, a < b)
KW_PTX_SETP(le, a <= b)
KW_PTX_SETP(gt, a > b)
KW_PTX_SETP(ge, a >= b)
#define __kw_ptx_setp_lo __kw_ptx_setp_lt
#define __kw_ptx_setp_ls __kw_ptx_setp_le
#define __kw_ptx_setp_hi __kw_ptx_setp_gt
#define __kw_ptx_setp_hs __kw_ptx_setp_ge

// ---- floating point
KW_DEVICE float __kw_ptx_flush(float x) {
  return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x;
}
// +0 is more than -0; a NaN loses against a number.
KW_DEVICE float __kw_ptx_larger(float a, float b) {
  if (a != a) return b;
  return b > a || (a == b && __builtin_signbit(a)) ? b : a;
}
KW_DEVICE float __kw_ptx_smaller(float a, float b) {
  if (a != a) return b;
  return b < a || (a == b && __builtin_signbit(b)) ? b : a;
}
KW_PTX3(fma_rn_f32, float, __builtin_fmaf(a, b, c))
KW_PTX3(fma_rn_ftz_f32, float, __kw_ptx_flush(__builtin_fmaf(__kw_ptx_flush(a), __kw_ptx_flush(b), __kw_ptx_flush(c))))
KW_PTX2(add_f32, float, a + b)
KW_PTX2(sub_f32, float, a - b)
KW_PTX2(mul_f32, float, a* b)
KW_PTX2(add_rn_f32, float, __fadd_rn(a, b))
KW_PTX2(sub_rn_f32, float, __fsub_rn(a, b))
KW_PTX2(mul_rn_f32, float, __fmul_rn(a, b))
KW_PTX2(max_f32, float, __kw_ptx_larger(a, b))
KW_PTX2(min_f32, float, __kw_ptx_smaller(a, b))
KW_PTX2(max_NaN_f32, float, a != a || b != b ? __builtin_nanf("") : __kw_ptx_larger(a, b))
KW_PTX2(min_NaN_f32, float, a != a || b != b ? __builtin_nanf("") : __kw_ptx_smaller(a, b))
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
// `c` says which bits of a lane's number name its group, and how far the group reaches. `lane` is where the value comes
// from if that is within it.
#define KW_PTX_SHFL(mode, lane, within)                                                                          \
  template <typename D, typename P, typename A, typename B, typename C, typename M>                              \
  KW_DEVICE void __kw_ptx_shfl_sync_##mode##_b32(D& d, P& p, A a, B b_, C c_, M mask) {                          \
    const int own = static_cast<int>(__kw_lane()), b = __kw_ptx_in<int>(b_) & 31, c = __kw_ptx_in<int>(c_);      \
    const int group = c >> 8 & 31, last = (own & group) | (c & 31 & ~group), source = lane;                      \
    const bool is_within = within;                                                                               \
    __kw_ptx_out<bool>(p, is_within);                                                                            \
    __kw_ptx_out<unsigned>(d, __kw_shuffle("shfl.sync." #mode, __kw_ptx_in<unsigned>(mask),                      \
                                           __kw_ptx_in<unsigned>(a),                                             \
                                           static_cast<unsigned>(is_within ? source : own)));                    \
  }                                                                                                              \
  template <typename D, typename A, typename B, typename C, typename M>                                          \
  KW_DEVICE void __kw_ptx_shfl_sync_##mode##_b32(D& d, A a, B b, C c, M mask) {                                  \
    __kw_ptx_shfl_sync_##mode##_b32(d, __kw_ptx_nowhere, a, b, c, mask);                                         \
  }
KW_PTX_SHFL(up, own - b, source >= last)
KW_PTX_SHFL(down, own + b, source <= last)
KW_PTX_SHFL(bfly, own ^ b, source <= last)
KW_PTX_SHFL(idx, (own & group) | (b & ~group), source <= last)
#define KW_PTX_VOTE(name, T, result)                                                                             \
  template <typename D, typename M>                                                                              \
  KW_DEVICE void __kw_ptx_vote_sync_##name(D& d, bool a, M mask) {                                               \
    const __kw_ballot vote = __kw_vote("vote.sync", __kw_ptx_in<unsigned>(mask), a);                             \
    __kw_ptx_out<T>(d, result);                                                                                  \
  }
KW_PTX_VOTE(all_pred, bool, vote.set == vote.asked)
KW_PTX_VOTE(any_pred, bool, vote.set != 0)
KW_PTX_VOTE(uni_pred, bool, vote.set == 0 || vote.set == vote.asked)
KW_PTX_VOTE(ballot_b32, unsigned, vote.set)
#define KW_PTX_MATCH(suffix, T)                                                                                  \
  template <typename D, typename A, typename M>                                                                  \
  KW_DEVICE void __kw_ptx_match_any_sync_##suffix(D& d, A a, M mask) {                                           \
    __kw_ptx_out<unsigned>(d, __match_any_sync(__kw_ptx_in<unsigned>(mask), __kw_ptx_in<T>(a)));                 \
  }                                                                                                              \
  template <typename D, typename P, typename A, typename M>                                                      \
  KW_DEVICE void __kw_ptx_match_all_sync_##suffix(D& d, P& p, A a, M mask) {                                     \
    int all;                                                                                                     \
    __kw_ptx_out<unsigned>(d, __match_all_sync(__kw_ptx_in<unsigned>(mask), __kw_ptx_in<T>(a), &all));           \
    __kw_ptx_out<bool>(p, all != 0);                                                                             \
  }                                                                                                              \
  template <typename D, typename A, typename M>                                                                  \
  KW_DEVICE void __kw_ptx_match_all_sync_##suffix(D& d, A a, M mask) {                                           \
    __kw_ptx_match_all_sync_##suffix(d, __kw_ptx_nowhere, a, mask);                                              \
  }
KW_PTX_MATCH(b32, unsigned)
KW_PTX_MATCH(b64, unsigned long long)
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
KW_PTX_REDUX(and, b32, unsigned)
KW_PTX_REDUX(or, b32, unsigned)
KW_PTX_REDUX(xor, b32, unsigned)
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
