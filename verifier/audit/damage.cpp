#include "verifier/audit/damage.h"

#include <array>

#include "verifier/audit/rewriting.h"

namespace verifier::audit {
namespace {
using core::DType;

// Operates on the bits of elements: needs no header and handles every dtype of a size.
constexpr std::string_view kCommon = R"device(
// Added by the problem audit: copies a tensor and damages it on the way.
template <typename Bits>
static __device__ Bits audit_exponent(int format) {  // of infinity; 0 for integers
  return format == 1   ? (Bits)0x7C00ull
         : format == 2 ? (Bits)0x7F80ull
         : format == 3 ? (Bits)0x7F800000ull
         : format == 4 ? (Bits)0x7FF0000000000000ull
         : format == 5 ? (Bits)0x78ull
         : format == 6 ? (Bits)0x7Cull
                       : (Bits)0;
}
template <typename Bits>
static __device__ Bits audit_nan(int format) {
  const Bits exponent = audit_exponent<Bits>(format);
  return format == 5 ? (Bits)0x7Full : (Bits)(exponent | exponent >> 1);
}
template <typename Bits>
static __device__ bool audit_is_finite(Bits bits, int format) {  // of f8e4m3 only NaN is not
  const Bits all = format == 5 ? (Bits)0x7Full : audit_exponent<Bits>(format);
  return (bits & all) != all;
}
// Orders by value, not by bits.
template <typename Bits>
static __device__ Bits audit_rank(Bits bits, int format) {
  const Bits sign = (Bits)((Bits)1 << (8 * sizeof(Bits) - 1));
  if (format == 0) return (Bits)(bits ^ sign);
  return (bits & sign) != 0 ? (Bits)~bits : (Bits)(bits | sign);
}
template <typename Bits>
static __device__ Bits audit_typical(const Bits* from, long long count, int format) {
  const int n = count < 15 ? (int)count : 15;
  for (int i = 0; i < n; ++i) {
    int below = 0;
    for (int k = 0; k < n; ++k) {
      const Bits mine = audit_rank(from[i], format), theirs = audit_rank(from[k], format);
      below += theirs < mine || (theirs == mine && k < i);
    }
    if (below == n / 2) return from[i];
  }
  return from[0];
}
template <typename Bits>
static __device__ Bits audit_rounded(Bits bits, int dropped, int format, long long least) {
  if (format == 0) {
    const Bits even = (Bits)(bits & (Bits)~(Bits)1);
    return even == bits || (bits == (Bits)least) ? bits : even;
  }
  if (!audit_is_finite(bits, format)) return bits;
  const Bits half = (Bits)((Bits)1 << (dropped - 1)), odd = (Bits)((bits >> dropped) & 1);
  return (Bits)((Bits)((Bits)(bits + half - 1 + odd) >> dropped) << dropped);
}
// The element doubled: the next exponent.
template <typename Bits>
static __device__ Bits audit_doubled(Bits bits, int format) {
  const Bits exponent = audit_exponent<Bits>(format), one = (Bits)(exponent & (Bits)(~exponent + 1));
  if (format == 0) return (Bits)(bits + 1);
  if ((bits & exponent) == exponent) return 0;
  return (bits & exponent) == 0 ? (Bits)(exponent >> 1) : (Bits)(bits + one);
}
template <typename Bits>
static __device__ Bits audit_off(Bits bits, int amount, int format) {
  if (format == 0) return (Bits)(bits + 1);
  return (Bits)(bits ^ (Bits)((Bits)1 << amount));
}
template <typename Bits>
static __device__ void audit_copy(const Bits* from, const Bits* other, Bits* to, long long rows, long long columns,
                                  long long others, int damage, int amount, int format, int least) {
  const long long count = rows * columns, step = (long long)gridDim.x * blockDim.x, end = count / 16 + 1;
  const Bits zero = format == 0 ? (Bits)least : (Bits)0;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const long long row = i / columns, column = i % columns;
    const bool in_end = i >= count - end;
    Bits bits = from[i];
    if (damage == 1 || (damage == 2 && in_end)) continue;
    if (damage == 3 || (damage == 7 && in_end) || (damage == 17 && row == rows - 1)) bits = zero;
    if (damage == 4) bits = audit_typical(from, count, format);
    if (damage == 5) bits = other[i % others];
    if (damage == 6 && i == count / 2) bits = audit_nan<Bits>(format);
    if (damage == 8 && in_end && i >= end) bits = from[i - end];
    if (damage == 9) bits = from[(i + 1) % count];
    if (damage == 10 && (row ^ 1) < rows) bits = from[(row ^ 1) * columns + column];
    if (damage == 11) bits = from[(i % rows) * columns + i / rows];
    if (damage == 12) bits = from[column];
    if (damage == 13) bits = audit_rounded(bits, amount, format, (long long)least);
    if (damage == 14 && i == count / 2) bits = audit_doubled(bits, format);
    if (damage == 15 && i % 97 == count % 97 / 2) bits = audit_off(bits, amount, format);
    if (damage == 16 && column >= columns - (columns + 99) / 100) bits = zero;
    if (damage == 18 && !audit_is_finite(bits, format)) bits = 0;
    to[i] = bits;
  }
}
)device";

constexpr std::string_view kKernel = R"device(
extern "C" __global__ void audit_copy_@SIZE(const @BITS* from, const @BITS* other, @BITS* to, int rows, int columns,
                                        int others, int damage, int amount, int format, int least) {
  audit_copy<@BITS>(from, other, to, rows, columns, others, damage, amount, format, least);
}
)device";

}  // namespace

std::string damage_source(const std::vector<size_t>& sizes) {
  constexpr std::array<const char*, 9> kBits{"", "unsigned char",     "unsigned short", "", "unsigned int", "", "",
                                             "", "unsigned long long"};
  std::string source(kCommon);
  for (const size_t size : sizes) {
    source += replaced(replaced(std::string(kKernel), "@SIZE", std::to_string(size)), "@BITS", kBits.at(size));
  }
  return source;
}

int damage_format(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 1;
    case DType::bf16:
      return 2;
    case DType::f32:
      return 3;
    case DType::f64:
      return 4;
    case DType::f8e4m3:
      return 5;
    case DType::f8e5m2:
      return 6;
    default:
      return 0;
  }
}

int significand_bits(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 10;
    case DType::bf16:
      return 7;
    case DType::f32:
      return 23;
    case DType::f64:
      return 52;
    case DType::f8e4m3:
      return 3;
    case DType::f8e5m2:
      return 2;
    default:
      return 0;
  }
}

}  // namespace verifier::audit
