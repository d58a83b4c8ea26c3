// PTX: matrices of a warp (ldmatrix, stmatrix, movmatrix, mma.sync). Each lane itself reads or writes its row in shared memory, which the checking build
// sees; the warp's exchange moves registers only.
#pragma once

#include "kw_narrow_bits.h"
#include "kw_ptx.h"

// A source, and a destination, of 32 bits of any type.
struct __kw_ptx_word {
  unsigned bits;
  template <typename T>
  __attribute__((always_inline)) __kw_ptx_word(T value) : bits(__kw_ptx_in<unsigned>(value)) {}
};
struct __kw_ptx_place {
  void* at;
  template <typename T>
  __attribute__((always_inline)) __kw_ptx_place(T& destination) : at(&destination) {
    static_assert(sizeof(T) == 4, "a destination of inline PTX is not of the instruction's size");
  }
  __attribute__((always_inline)) void set(unsigned bits) const { __builtin_memcpy(at, &bits, sizeof bits); }
};

// What went wrong in a collective of the whole warp.
enum class __kw_discord : unsigned char { none, lanes_missing, differs };
#define KW_CHECK_ACCORD(name, discord)                                                                    \
  if ((discord) == __kw_discord::differs) __kw_trap("lanes of one warp are in different forms of " name); \
  if ((discord) != __kw_discord::none) __kw_trap(name ": some of the warp's 32 threads do not exist or have returned")
// Whether all 32 lanes are there and ask for the same. Lane: has `form`, a number, and `discord`.
template <typename Lane>
KW_DEVICE bool __kw_agree(void* const* lanes, unsigned long active) {
  const unsigned form = static_cast<Lane*>(lanes[__builtin_ctzl(active)])->form;
  auto discord = active == 0xffffffffu ? __kw_discord::none : __kw_discord::lanes_missing;
  for (unsigned long rest = active; rest != 0; rest &= rest - 1) {
    if (static_cast<Lane*>(lanes[__builtin_ctzl(rest)])->form != form) discord = __kw_discord::differs;
  }
  if (discord == __kw_discord::none) return true;
  for (unsigned long rest = active; rest != 0; rest &= rest - 1) {
    static_cast<Lane*>(lanes[__builtin_ctzl(rest)])->discord = discord;
  }
  return false;
}
#if defined(__clang__)
#define KW_UNROLL _Pragma("unroll")
#else
#define KW_UNROLL _Pragma("GCC unroll 8")
#endif

// ---- matrices of 8 x 8 numbers of 16 bits
// As rows, lane l holds row l % 8 of matrix l / 8. As a fragment, word i of lane l is elements l % 4 * 2 and the next
// of row l / 4 of matrix i.
struct __kw_matrices {
  unsigned words[4];
  unsigned form;  // the bits below, and how many matrices
  __kw_discord discord;
  enum { from_rows = 8, to_rows = 16, transposed = 32 };

  KW_DEVICE unsigned* words_of(void* lane) { return static_cast<__kw_matrices*>(lane)->words; }
  __attribute__((no_sanitize("thread", "alignment", "bounds", "object-size"))) static void combine(void* const* lanes, unsigned long active) {
    if (!__kw_agree<__kw_matrices>(lanes, active)) return;
    const unsigned form = static_cast<__kw_matrices*>(lanes[0])->form, count = form & 7;
    alignas(16) unsigned short all[4][8][8];
    for (unsigned i = 0; i < count; ++i) {
      if (form & from_rows) {
        for (unsigned row = 0; row < 8; ++row) __builtin_memcpy(all[i][row], words_of(lanes[8 * i + row]), 16);
      } else {
        for (unsigned lane = 0; lane < 32; ++lane) {
          __builtin_memcpy(&all[i][lane / 4][lane % 4 * 2], words_of(lanes[lane]) + i, 4);
        }
      }
      for (unsigned row = 0; form & transposed && row < 8; ++row) {
        for (unsigned column = 0; column < row; ++column) {
          const unsigned short kept = all[i][row][column];
          all[i][row][column] = all[i][column][row];
          all[i][column][row] = kept;
        }
      }
    }
    for (unsigned i = 0; i < count; ++i) {
      if (form & to_rows) {
        for (unsigned row = 0; row < 8; ++row) __builtin_memcpy(words_of(lanes[8 * i + row]), all[i][row], 16);
      } else {
        for (unsigned lane = 0; lane < 32; ++lane) {
          __builtin_memcpy(words_of(lanes[lane]) + i, &all[i][lane / 4][lane % 4 * 2], 4);
        }
      }
    }
  }
};
#define KW_EXCHANGE_MATRICES(name, mine)                                   \
  __kw_warp_call(name, 0xffffffffu, &__kw_matrices::combine, &mine);       \
  KW_CHECK_ACCORD(name, mine.discord)
typedef unsigned __kw_matrix_row __attribute__((vector_size(16)));
// Lanes below 8 * count give addresses of rows.
KW_DEVICE __kw_matrices __kw_load_matrices(unsigned form, size_t address) {
  __kw_matrices mine{{0, 0, 0, 0}, form | __kw_matrices::from_rows, __kw_discord::none};
  if (__kw_lane() < 8 * (form & 7)) {
    const __kw_matrix_row row = *(const __kw_matrix_row*)address;
    for (int i = 0; i < 4; ++i) mine.words[i] = row[i];
  }
  KW_EXCHANGE_MATRICES("ldmatrix", mine);
  return mine;
}
KW_DEVICE void __kw_load1(unsigned form, __kw_ptx_place d, size_t address) {
  d.set(__kw_load_matrices(form, address).words[0]);
}
KW_DEVICE void __kw_load2(unsigned form, __kw_ptx_place d, __kw_ptx_place e, size_t address) {
  const __kw_matrices got = __kw_load_matrices(form, address);
  d.set(got.words[0]), e.set(got.words[1]);
}
KW_DEVICE void __kw_load4(unsigned form, __kw_ptx_place d, __kw_ptx_place e, __kw_ptx_place f, __kw_ptx_place g, size_t address) {
  const __kw_matrices got = __kw_load_matrices(form, address);
  d.set(got.words[0]), e.set(got.words[1]), f.set(got.words[2]), g.set(got.words[3]);
}
KW_DEVICE void __kw_store_matrices(unsigned form, size_t address, __kw_ptx_word a, __kw_ptx_word b = 0, __kw_ptx_word c = 0,
                                   __kw_ptx_word d = 0) {
  __kw_matrices mine{{a.bits, b.bits, c.bits, d.bits}, form | __kw_matrices::to_rows, __kw_discord::none};
  KW_EXCHANGE_MATRICES("stmatrix", mine);
  if (__kw_lane() < 8 * (form & 7)) {
    *(__kw_matrix_row*)address = __kw_matrix_row{mine.words[0], mine.words[1], mine.words[2], mine.words[3]};
  }
}
#define __kw_ptx_ldmatrix_sync_aligned_m8n8_x1_shared_b16(...) __kw_load1(1, __VA_ARGS__)
#define __kw_ptx_ldmatrix_sync_aligned_m8n8_x2_shared_b16(...) __kw_load2(2, __VA_ARGS__)
#define __kw_ptx_ldmatrix_sync_aligned_m8n8_x4_shared_b16(...) __kw_load4(4, __VA_ARGS__)
#define __kw_ptx_ldmatrix_sync_aligned_m8n8_x1_trans_shared_b16(...) __kw_load1(1 | __kw_matrices::transposed, __VA_ARGS__)
#define __kw_ptx_ldmatrix_sync_aligned_m8n8_x2_trans_shared_b16(...) __kw_load2(2 | __kw_matrices::transposed, __VA_ARGS__)
#define __kw_ptx_ldmatrix_sync_aligned_m8n8_x4_trans_shared_b16(...) __kw_load4(4 | __kw_matrices::transposed, __VA_ARGS__)
#define __kw_ptx_stmatrix_sync_aligned_m8n8_x1_shared_b16(...) __kw_store_matrices(1, __VA_ARGS__)
#define __kw_ptx_stmatrix_sync_aligned_m8n8_x2_shared_b16(...) __kw_store_matrices(2, __VA_ARGS__)
#define __kw_ptx_stmatrix_sync_aligned_m8n8_x4_shared_b16(...) __kw_store_matrices(4, __VA_ARGS__)
#define __kw_ptx_stmatrix_sync_aligned_m8n8_x1_trans_shared_b16(...) __kw_store_matrices(1 | __kw_matrices::transposed, __VA_ARGS__)
#define __kw_ptx_stmatrix_sync_aligned_m8n8_x2_trans_shared_b16(...) __kw_store_matrices(2 | __kw_matrices::transposed, __VA_ARGS__)
#define __kw_ptx_stmatrix_sync_aligned_m8n8_x4_trans_shared_b16(...) __kw_store_matrices(4 | __kw_matrices::transposed, __VA_ARGS__)
KW_DEVICE void __kw_ptx_movmatrix_sync_aligned_m8n8_trans_b16(__kw_ptx_place d, __kw_ptx_word a) {
  __kw_matrices mine{{a.bits, 0, 0, 0}, 1 | __kw_matrices::transposed, __kw_discord::none};
  KW_EXCHANGE_MATRICES("movmatrix", mine);
  d.set(mine.words[0]);
}

// ---- mma.sync.aligned.m16n8kK.row.col
// With E elements in a word: word i of a, in lane l, is row l / 4 + 8 * (i % 2), columns from E * (l % 4 + 4 * (i / 2)) on;
// word i of b is column l / 4, rows from E * (l % 4 + 4 * i) on. Words of c and d of 32-bit elements are row l / 4 + 8 *
// (i / 2), column l % 4 * 2 + i % 2; of f16, rows l / 4 and 8 more, columns l % 4 * 2 and the next.
struct __kw_multiplication {
  unsigned a[4], b[2], sums[4];
  unsigned form;  // words of b in a lane | numbers of a << 4 | of b << 8 | the bit below
  __kw_discord discord;
  enum { saturates = 0x1000 };

  typedef unsigned Words __attribute__((vector_size(32)));
  typedef float Floats __attribute__((vector_size(32)));
  typedef int Integers __attribute__((vector_size(32)));
  template <typename To>
  KW_DEVICE To as(Words words) { return reinterpret_cast<To&>(words); }

  // Element `place` of each word as a number.
  KW_DEVICE Floats floats(Words words, unsigned numbers, unsigned place) {
    if (numbers == __kw_tf32) return as<Floats>(words & 0xffffe000u);
    if (numbers == __kw_bf16) return as<Floats>(place == 0 ? words << 16 : words & 0xffff0000u);
    if (numbers == __kw_e4m3) {
      Floats result;
      for (int i = 0; i < 8; ++i) result[i] = __kw_fp8_value(static_cast<unsigned char>(words[i] >> 8 * place), true);
      return result;
    }
    // e5m2 is half's upper byte. A float with the half's fields in place is 2^-112 of it, denormal or not.
    const Words half = numbers == __kw_f16 ? words >> 16 * place : words >> 8 * place << 8;
    const Words magnitude = half & 0x7fffu, sign = (half & 0x8000u) << 16;
    const Words endless = (Words)(magnitude >= 0x7c00u) & 0x7f800000u;
    return as<Floats>((Words)(as<Floats>(magnitude << 13) * 0x1p112f) | endless | sign);
  }
  KW_DEVICE Integers integers(Words words, unsigned numbers, unsigned place) {
    const Words top = words << (24 - 8 * place);
    return numbers == __kw_s8 ? as<Integers>(top) >> 24 : as<Integers>(top >> 24);
  }

  template <typename Scalar>
  KW_DEVICE auto number(Words words, unsigned numbers, unsigned place) {
    if constexpr (__is_same(Scalar, int)) {
      return integers(words, numbers, place);
    } else {
      return floats(words, numbers, place);
    }
  }
  // sums[m] += a[m][k] * b[k], for 16 rows m, 8 at a time.
  template <typename Scalar, typename V>
  KW_DEVICE void multiply(const Words (&left)[2][8], const Words (&right)[8], unsigned form, V (&sums)[16]) {
    const unsigned of_a = form >> 4 & 15, of_b = form >> 8 & 15, words = 4 * (form & 3);
    const unsigned elements = of_a == __kw_tf32 ? 1 : of_a <= __kw_bf16 ? 2 : 4;
    V rows[32];
    for (unsigned k = 0; k < words * elements; ++k) rows[k] = number<Scalar>(right[k / elements], of_b, k % elements);
    for (unsigned half = 0; half < 2; ++half) {
      V sum[8];
      KW_UNROLL for (int m = 0; m < 8; ++m) sum[m] = sums[8 * half + m];
      for (unsigned k = 0; k < words * elements; ++k) {
        const V column = number<Scalar>(left[half][k / elements], of_a, k % elements);
        KW_UNROLL for (int m = 0; m < 8; ++m) sum[m] += static_cast<Scalar>(column[m]) * rows[k];
      }
      KW_UNROLL for (int m = 0; m < 8; ++m) sums[8 * half + m] = sum[m];
    }
  }

  __attribute__((no_sanitize("thread", "alignment", "bounds", "object-size"))) static void combine(void* const* lanes, unsigned long active) {
    if (!__kw_agree<__kw_multiplication>(lanes, active)) return;
    const unsigned form = static_cast<__kw_multiplication*>(lanes[0])->form, depth = form & 3;
    Words left[2][8], right[8];  // by word along k: of rows 0 to 7 and 8 to 15, of the columns
    alignas(32) unsigned result[16][8];
    for (unsigned lane = 0; lane < 32; ++lane) {
      const auto& mine = *static_cast<__kw_multiplication*>(lanes[lane]);
      const unsigned group = lane / 4, in_group = lane % 4;
      for (unsigned i = 0; i < depth; ++i) {
        left[0][in_group + 4 * i][group] = mine.a[2 * i];
        left[1][in_group + 4 * i][group] = mine.a[2 * i + 1];
        right[in_group + 4 * i][group] = mine.b[i];
      }
      __builtin_memcpy(&result[group][2 * in_group], mine.sums, 8);
      __builtin_memcpy(&result[group + 8][2 * in_group], mine.sums + 2, 8);
    }
    if ((form >> 4 & 15) >= __kw_s8) {
      Integers sums[16] = {};
      multiply<int>(left, right, form, sums);
      for (unsigned i = 0; i < 128; ++i) {
        long long sum = static_cast<long long>(static_cast<int>(result[i / 8][i % 8])) + sums[i / 8][i % 8];
        if (form & saturates) sum = sum > 0x7fffffff ? 0x7fffffff : sum < -0x7fffffff - 1 ? -0x7fffffff - 1 : sum;
        result[i / 8][i % 8] = static_cast<unsigned>(sum);
      }
    } else {
      Floats sums[16];
      __builtin_memcpy(sums, result, sizeof sums);
      multiply<float>(left, right, form, sums);
      __builtin_memcpy(result, sums, sizeof sums);
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
      auto& mine = *static_cast<__kw_multiplication*>(lanes[lane]);
      __builtin_memcpy(mine.sums, &result[lane / 4][lane % 4 * 2], 8);
      __builtin_memcpy(mine.sums + 2, &result[lane / 4 + 8][lane % 4 * 2], 8);
    }
  }
};
KW_DEVICE void __kw_multiply_words(__kw_multiplication& mine) {
  __kw_warp_call("mma", 0xffffffffu, &__kw_multiplication::combine, &mine);
  KW_CHECK_ACCORD("mma", mine.discord);
}
// By the words of b in a lane, with sums of 32 bits.
KW_DEVICE void __kw_mma1(unsigned form, __kw_ptx_place d0, __kw_ptx_place d1, __kw_ptx_place d2, __kw_ptx_place d3, __kw_ptx_word a0,
                         __kw_ptx_word a1, __kw_ptx_word b, __kw_ptx_word c0, __kw_ptx_word c1, __kw_ptx_word c2, __kw_ptx_word c3) {
  __kw_multiplication mine{{a0.bits, a1.bits}, {b.bits}, {c0.bits, c1.bits, c2.bits, c3.bits}, 1 | form, {}};
  __kw_multiply_words(mine);
  d0.set(mine.sums[0]), d1.set(mine.sums[1]), d2.set(mine.sums[2]), d3.set(mine.sums[3]);
}
KW_DEVICE void __kw_mma2(unsigned form, __kw_ptx_place d0, __kw_ptx_place d1, __kw_ptx_place d2, __kw_ptx_place d3, __kw_ptx_word a0,
                         __kw_ptx_word a1, __kw_ptx_word a2, __kw_ptx_word a3, __kw_ptx_word b0, __kw_ptx_word b1, __kw_ptx_word c0,
                         __kw_ptx_word c1, __kw_ptx_word c2, __kw_ptx_word c3) {
  __kw_multiplication mine{
      {a0.bits, a1.bits, a2.bits, a3.bits}, {b0.bits, b1.bits}, {c0.bits, c1.bits, c2.bits, c3.bits}, 2 | form, {}};
  __kw_multiply_words(mine);
  d0.set(mine.sums[0]), d1.set(mine.sums[1]), d2.set(mine.sums[2]), d3.set(mine.sums[3]);
}
// With sums of f16, which are rounded once.
KW_DEVICE unsigned __kw_half_sum(unsigned pair, unsigned place) {
  return __kw_bits<unsigned>(__kw_half_value(static_cast<unsigned short>(pair >> 16 * place)));
}
KW_DEVICE unsigned __kw_half_pair(unsigned low, unsigned high) {
  return __kw_half_bits(__kw_bits<float>(low)) | static_cast<unsigned>(__kw_half_bits(__kw_bits<float>(high))) << 16;
}
KW_DEVICE void __kw_mma1_f16(unsigned form, __kw_ptx_place d0, __kw_ptx_place d1, __kw_ptx_word a0, __kw_ptx_word a1, __kw_ptx_word b,
                             __kw_ptx_word c0, __kw_ptx_word c1) {
  unsigned s0, s1, s2, s3;
  __kw_mma1(form, s0, s1, s2, s3, a0, a1, b, __kw_half_sum(c0.bits, 0), __kw_half_sum(c0.bits, 1),
            __kw_half_sum(c1.bits, 0), __kw_half_sum(c1.bits, 1));
  d0.set(__kw_half_pair(s0, s1)), d1.set(__kw_half_pair(s2, s3));
}
KW_DEVICE void __kw_mma2_f16(unsigned form, __kw_ptx_place d0, __kw_ptx_place d1, __kw_ptx_word a0, __kw_ptx_word a1, __kw_ptx_word a2,
                             __kw_ptx_word a3, __kw_ptx_word b0, __kw_ptx_word b1, __kw_ptx_word c0, __kw_ptx_word c1) {
  unsigned s0, s1, s2, s3;
  __kw_mma2(form, s0, s1, s2, s3, a0, a1, a2, a3, b0, b1, __kw_half_sum(c0.bits, 0), __kw_half_sum(c0.bits, 1),
            __kw_half_sum(c1.bits, 0), __kw_half_sum(c1.bits, 1));
  d0.set(__kw_half_pair(s0, s1)), d1.set(__kw_half_pair(s2, s3));
}
#define KW_NUMBERS(a, b) __kw_##a << 4 | __kw_##b << 8
#define __kw_ptx_mma_sync_aligned_m16n8k8_row_col_f32_f16_f16_f32(...) __kw_mma1(KW_NUMBERS(f16, f16), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(...) __kw_mma2(KW_NUMBERS(f16, f16), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k8_row_col_f32_bf16_bf16_f32(...) __kw_mma1(KW_NUMBERS(bf16, bf16), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32(...) __kw_mma2(KW_NUMBERS(bf16, bf16), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k8_row_col_f16_f16_f16_f16(...) __kw_mma1_f16(KW_NUMBERS(f16, f16), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16(...) __kw_mma2_f16(KW_NUMBERS(f16, f16), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k4_row_col_f32_tf32_tf32_f32(...) __kw_mma1(KW_NUMBERS(tf32, tf32), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k8_row_col_f32_tf32_tf32_f32(...) __kw_mma2(KW_NUMBERS(tf32, tf32), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e4m3_f32(...) __kw_mma2(KW_NUMBERS(e4m3, e4m3), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e5m2_f32(...) __kw_mma2(KW_NUMBERS(e4m3, e5m2), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k32_row_col_f32_e5m2_e4m3_f32(...) __kw_mma2(KW_NUMBERS(e5m2, e4m3), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k32_row_col_f32_e5m2_e5m2_f32(...) __kw_mma2(KW_NUMBERS(e5m2, e5m2), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k16_row_col_s32_s8_s8_s32(...) __kw_mma1(KW_NUMBERS(s8, s8), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k16_row_col_satfinite_s32_s8_s8_s32(...) __kw_mma1(KW_NUMBERS(s8, s8) | __kw_multiplication::saturates, __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k16_row_col_s32_s8_u8_s32(...) __kw_mma1(KW_NUMBERS(s8, u8), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k16_row_col_satfinite_s32_s8_u8_s32(...) __kw_mma1(KW_NUMBERS(s8, u8) | __kw_multiplication::saturates, __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k16_row_col_s32_u8_s8_s32(...) __kw_mma1(KW_NUMBERS(u8, s8), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k16_row_col_satfinite_s32_u8_s8_s32(...) __kw_mma1(KW_NUMBERS(u8, s8) | __kw_multiplication::saturates, __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k16_row_col_s32_u8_u8_s32(...) __kw_mma1(KW_NUMBERS(u8, u8), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k16_row_col_satfinite_s32_u8_u8_s32(...) __kw_mma1(KW_NUMBERS(u8, u8) | __kw_multiplication::saturates, __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k32_row_col_s32_s8_s8_s32(...) __kw_mma2(KW_NUMBERS(s8, s8), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k32_row_col_satfinite_s32_s8_s8_s32(...) __kw_mma2(KW_NUMBERS(s8, s8) | __kw_multiplication::saturates, __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k32_row_col_s32_s8_u8_s32(...) __kw_mma2(KW_NUMBERS(s8, u8), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k32_row_col_satfinite_s32_s8_u8_s32(...) __kw_mma2(KW_NUMBERS(s8, u8) | __kw_multiplication::saturates, __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k32_row_col_s32_u8_s8_s32(...) __kw_mma2(KW_NUMBERS(u8, s8), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k32_row_col_satfinite_s32_u8_s8_s32(...) __kw_mma2(KW_NUMBERS(u8, s8) | __kw_multiplication::saturates, __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k32_row_col_s32_u8_u8_s32(...) __kw_mma2(KW_NUMBERS(u8, u8), __VA_ARGS__)
#define __kw_ptx_mma_sync_aligned_m16n8k32_row_col_satfinite_s32_u8_u8_s32(...) __kw_mma2(KW_NUMBERS(u8, u8) | __kw_multiplication::saturates, __VA_ARGS__)
