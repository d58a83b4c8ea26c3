// Conversions of __half and __nv_bfloat16.
#include <algorithm>

#include "sandbox/cpu/narrow_float_cases_fixture.h"

namespace sandbox::cpu::test {
namespace {
class ShimHalf : public NarrowFloatTest {};
INSTANTIATE_TEST_SUITE_P(Both, ShimHalf, testing::Values(kHalf, kBfloat16),
                         [](const auto& instance) { return std::string(instance.param.name); });

// Hosts with instructions for halves, and those without.
const std::vector<Macros> kHosts{{}, {{"KW_HALF_IN_SOFTWARE", 1}}};

TEST_P(ShimHalf, WidensEveryValue) {
  const auto widened = [this](const Operand& o) {
    if (!format.is_nan(o.a)) return bits_of(static_cast<float>(value(o.a)));
    return format.mantissa_bits == 10 ? 0x7fffffffu : static_cast<uint32_t>(o.a) << 16;  // bfloat16 keeps its payload
  };
  for (const Macros& host : kHosts) {
    expect_all(format,
               {{"__FORMAT2float(a)", widened, TOOLKIT(__half2float(h.a), __bfloat162float(h.a))},
                {"(float)a", widened, nullptr},
                {"__low2float(__halves2FORMAT2(a, b))", widened, nullptr},
                {"__FORMAT22float2(make_FORMAT2(b, a)).y", widened, nullptr}},
               every_value(), host);
  }
}

TEST_P(ShimHalf, NarrowsFloatsInEveryDirection) {
  const auto to = [this](Rounding rounding) {
    return [f = format, rounding](const Operand& o) -> uint32_t { return f.round(static_cast<double>(o.x), rounding); };
  };
  std::vector<Operand> operands;
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const uint32_t lower : {0x0000u, 0x0001u, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      operands.push_back({0, 0, 0, float_of(upper << 16 | lower)});
    }
  }
  const Operation nearest{"__float2FORMAT(x)", to(Rounding::nearest),
                          TOOLKIT(__float2half(h.x), __float2bfloat16(h.x))};
  expect_all(format,
             {nearest,
              {"T(x)", to(Rounding::nearest), nullptr},
              {"__float2FORMAT_rz(x)", to(Rounding::zero), TOOLKIT(__float2half_rz(h.x), __float2bfloat16_rz(h.x))},
              {"__float2FORMAT_rd(x)", to(Rounding::down), TOOLKIT(__float2half_rd(h.x), __float2bfloat16_rd(h.x))},
              {"__float2FORMAT_ru(x)", to(Rounding::up), TOOLKIT(__float2half_ru(h.x), __float2bfloat16_ru(h.x))}},
             operands);
  expect_all(format, {nearest}, operands, {{"KW_HALF_IN_SOFTWARE", 1}});
}

TEST_P(ShimHalf, NarrowsDoublesAndIntegersAtOnce) {
  // Just beside the middle of two neighbours: by way of float it would be the middle.
  const double middle = 1 + std::ldexp(1, -format.mantissa_bits - 1);
  const auto always = [](uint32_t bits) { return [bits](const Operand&) { return bits; }; };
  const auto literal = [](double number) {
    char text[64];
    std::snprintf(text, sizeof text, "%a", number);
    return std::string(text);
  };
  std::vector<Operation> operations;
  for (const double beside : {0x1p-40, -0x1p-40, 0.0}) {
    for (const double scale : {1.0, -1.0, 0x1p-14, 0x1p-20, 0x1p15, 0x1p-140, -0x1p-300, 0x1p300}) {
      const double number = (middle + beside) * scale;
      operations.push_back({"__double2FORMAT(" + literal(number) + ")", always(format.round(number)), nullptr});
      operations.push_back({"T(" + literal(number) + ")", always(format.round(number)), nullptr});
    }
  }
  const long long wide = (1ll << 62) + (1ll << (61 - format.mantissa_bits)) + 1;  // beside a middle as well
  operations.push_back(
      {"__ll2FORMAT_rn(" + std::to_string(wide) + "ll)",
       always(format.round(static_cast<double>(wide), Rounding::nearest, 1)),
       TOOLKIT(__ll2half_rn((1ll << 62) + (1ll << 51) + 1), __ll2bfloat16_rn((1ll << 62) + (1ll << 54) + 1))});
  operations.push_back({"__ll2FORMAT_rd(-" + std::to_string(wide) + "ll)",
                        always(format.round(-static_cast<double>(wide), Rounding::down, -1)), nullptr});
  operations.push_back({"__ull2FORMAT_rz(" + std::to_string(wide) + "ull)",
                        always(format.round(static_cast<double>(wide), Rounding::zero, 1)), nullptr});
  for (const int number : {0, 1, -1, 2049, -2051, 65519, 65520, 1 << 30 | 1 << 22 | 1, -2147483647}) {
    operations.push_back({"__int2FORMAT_rn(" + std::to_string(number) + ")", always(format.round(number)), nullptr});
    operations.push_back(
        {"__int2FORMAT_ru(" + std::to_string(number) + ")", always(format.round(number, Rounding::up)), nullptr});
    operations.push_back({"T(" + std::to_string(number) + ")", always(format.round(number)), nullptr});
  }
  operations.push_back({"__uint2FORMAT_rd(4294967295u)", always(format.round(4294967295.0, Rounding::down)), nullptr});
  operations.push_back({"__short2FORMAT_rn(-32767)", always(format.round(-32767)), nullptr});
  operations.push_back({"__ushort2FORMAT_rz(65535)", always(format.round(65535, Rounding::zero)), nullptr});
  expect_all(format, operations, {{}});
}

TEST_P(ShimHalf, BecomesIntegersWithinTheirRange) {
  const auto saturated = [this](double (*whole)(double), double least, double most, uint64_t of_nan) {
    return [f = format, whole, least, most, of_nan](const Operand& o) {
      const double number = whole(f.value(o.a));
      if (std::isnan(number)) return folded(of_nan);
      if (number >= most)
        return folded(most == 0x1p64 ? ~0ull : most == 0x1p63 ? ~0ull >> 1 : static_cast<uint64_t>(most));
      if (number < 0) return folded(static_cast<uint64_t>(static_cast<int64_t>(std::max(number, least))));
      return folded(static_cast<uint64_t>(number));
    };
  };
  const auto wide = [](const std::string& call) { return "(long long)" + call; };
  expect_all(format,
             {{wide("__FORMAT2int_rn(a)"), saturated(std::nearbyint, -0x1p31, 0x1p31 - 1, 0), nullptr},
              {wide("__FORMAT2int_rz(a)"), saturated(std::trunc, -0x1p31, 0x1p31 - 1, 0),
               TOOLKIT(__half2int_rz(h.a), __bfloat162int_rz(h.a))},
              {wide("__FORMAT2int_rd(a)"), saturated(std::floor, -0x1p31, 0x1p31 - 1, 0), nullptr},
              {wide("__FORMAT2uint_ru(a)"), saturated(std::ceil, 0, 0x1p32 - 1, 0), nullptr},
              {wide("__FORMAT2short_rz(a)"), saturated(std::trunc, -0x1p15, 0x1p15 - 1, 0), nullptr},
              {wide("__FORMAT2ushort_rn(a)"), saturated(std::nearbyint, 0, 0x1p16 - 1, 0), nullptr},
              {wide("__FORMAT2char_rz(a)"), saturated(std::trunc, -0x1p7, 0x1p7 - 1, 0), nullptr},
              {wide("__FORMAT2uchar_rz(a)"), saturated(std::trunc, 0, 0x1p8 - 1, 0), nullptr},
              {"__FORMAT2ll_rd(a)", saturated(std::floor, -0x1p63, 0x1p63, 1ull << 63), nullptr},
              {"__FORMAT2ull_rz(a)", saturated(std::trunc, 0, 0x1p64, 1ull << 63), nullptr},
              {wide("(int)a"), saturated(std::trunc, -0x1p31, 0x1p31 - 1, 0), nullptr},
              {wide("(unsigned short)a"), saturated(std::trunc, 0, 0x1p16 - 1, 0), nullptr}},
             every_value());
}
}  // namespace
}  // namespace sandbox::cpu::test
