// Arithmetic, comparisons and mathematics of __half, __nv_bfloat16 and their pairs.
#include <algorithm>

#include "sandbox/cpu/narrow_float_cases_fixture.h"

namespace sandbox::cpu::test {
namespace {
using Model = std::function<uint32_t(const Operand&)>;

class ShimHalfArithmetic : public NarrowFloatTest {
 protected:
  // A model that applies the function to the values of a and b.
  Model rounded(const std::function<double(double, double)>& function) const {
    return [f = format, function](const Operand& o) { return f.round(function(f.value(o.a), f.value(o.b))); };
  }
  Model holds(const std::function<bool(double, double)>& relation) const {
    return [f = format, relation](const Operand& o) { return relation(f.value(o.a), f.value(o.b)) ? 1u : 0u; };
  }
  Model fused(const std::function<uint16_t(const NarrowFormat&, uint16_t)>& after) const {
    return
        [f = format, after](const Operand& o) { return after(f, f.fused(f.value(o.a), f.value(o.b), f.value(o.c))); };
  }
};
INSTANTIATE_TEST_SUITE_P(Both, ShimHalfArithmetic, testing::Values(kHalf, kBfloat16),
                         [](const auto& instance) { return std::string(instance.param.name); });

double saturated(double x) { return x > 0 ? std::min(x, 1.0) : 0; }
double larger(double x, double y) {
  if (x == y) return std::signbit(x) ? y : x;
  return std::isnan(x) || y > x ? y : x;
}
double smaller(double x, double y) { return -larger(-x, -y); }

TEST_P(ShimHalfArithmetic, RoundsOnce) {
  // On the host the toolkit's bfloat16 takes the first of two zeros of different sign, against its own documentation.
  const bool half = format.mantissa_bits == 10;
  expect_all(format,
             {{"__hadd(a, b)", rounded([](double x, double y) { return x + y; }), TOOLKIT_BOTH(__hadd(h.a, h.b))},
              {"__hsub(a, b)", rounded([](double x, double y) { return x - y; }), TOOLKIT_BOTH(__hsub(h.a, h.b))},
              {"__hmul(a, b)", rounded([](double x, double y) { return x * y; }), TOOLKIT_BOTH(__hmul(h.a, h.b))},
              {"__hdiv(a, b)", rounded([](double x, double y) { return x / y; }), TOOLKIT_BOTH(__hdiv(h.a, h.b))},
              {"a + b", rounded([](double x, double y) { return x + y; }), TOOLKIT_BOTH(h.a + h.b)},
              {"a / b", rounded([](double x, double y) { return x / y; }), TOOLKIT_BOTH(h.a / h.b)},
              // Not fused, whatever the flags of the host's compiler.
              {"__hadd(__hmul(a, b), c)",
               [f = format](const Operand& o) {
                 return f.round(f.value(f.round(f.value(o.a) * f.value(o.b))) + f.value(o.c));
               },
               TOOLKIT_BOTH(__hadd(__hmul(h.a, h.b), h.c))},
              {"__hadd_sat(a, b)", rounded([](double x, double y) { return saturated(x + y); }),
               TOOLKIT_BOTH(__hadd_sat(h.a, h.b))},
              {"__hsub_sat(a, b)", rounded([](double x, double y) { return saturated(x - y); }),
               TOOLKIT_BOTH(__hsub_sat(h.a, h.b))},
              {"__hmul_sat(a, b)", rounded([](double x, double y) { return saturated(x * y); }),
               TOOLKIT_BOTH(__hmul_sat(h.a, h.b))},
              {"__hfma(a, b, c)", fused([](const NarrowFormat&, uint16_t bits) { return bits; }), nullptr},
              {"__hfma_sat(a, b, c)",
               fused([](const NarrowFormat& f, uint16_t bits) { return f.round(saturated(f.value(bits))); }), nullptr},
              {"__hfma_relu(a, b, c)", fused([](const NarrowFormat& f, uint16_t bits) -> uint16_t {
                 return f.is_nan(bits) || (bits & 0x8000) == 0 ? bits : 0;
               }),
               nullptr},
              {"__hmax(a, b)", rounded(larger), TOOLKIT_BOTH(__hmax(h.a, h.b))},
              {"__hmin(a, b)", rounded(smaller), TOOLKIT_BOTH(__hmin(h.a, h.b))},
              {"__hmax_nan(a, b)", rounded([](double x, double y) {
                 return std::isnan(x) ? x : std::isnan(y) ? y : larger(x, y);
               }),
               half ? Model(TOOLKIT_BOTH(__hmax_nan(h.a, h.b))) : nullptr},
              {"__hmin_nan(a, b)", rounded([](double x, double y) {
                 return std::isnan(x) ? x : std::isnan(y) ? y : smaller(x, y);
               }),
               half ? Model(TOOLKIT_BOTH(__hmin_nan(h.a, h.b))) : nullptr}},
             many_values(format));
}

TEST_P(ShimHalfArithmetic, FusesWhereFloatWouldRoundTwice) {
  // The products lie in the middle of two neighbours; the addends, far below, decide.
  const bool half = format.mantissa_bits == 10;
  std::vector<Operand> operands;
  for (const int sign : {0, 0x8000}) {
    const auto addend = static_cast<uint16_t>(sign | 1);
    operands.push_back(half ? Operand{0x4200, 0x3556, addend} : Operand{0x3fc0, 0x3f81, addend});
  }
  // 3 * 683/2048 and 3/2 * 129/128.
  ASSERT_EQ(format.value(operands[0].a) * format.value(operands[0].b), half ? 1 + 0x1p-11 : 1.5 + 0x1.8p-7);
  const std::vector<uint16_t> expected{
      format.round(format.value(operands[0].a) * format.value(operands[0].b), Rounding::up),
      format.round(format.value(operands[0].a) * format.value(operands[0].b), Rounding::down)};
  ASSERT_NE(expected[0], expected[1]);
  expect_all(format, {{"__hfma(a, b, c)", [&](const Operand& o) { return expected[o.c >> 15]; }, nullptr}}, operands);
}

TEST_P(ShimHalfArithmetic, ComparesNumbersAndNans) {
  const auto unordered = [](double x, double y) { return std::isnan(x) || std::isnan(y); };
  expect_all(format,
             {{"__heq(a, b)", holds([](double x, double y) { return x == y; }), TOOLKIT_BOTH(__heq(h.a, h.b))},
              {"__hne(a, b)", holds([&](double x, double y) { return x != y && !unordered(x, y); }),
               TOOLKIT_BOTH(__hne(h.a, h.b))},
              {"__hle(a, b)", holds([](double x, double y) { return x <= y; }), TOOLKIT_BOTH(__hle(h.a, h.b))},
              {"__hge(a, b)", holds([](double x, double y) { return x >= y; }), TOOLKIT_BOTH(__hge(h.a, h.b))},
              {"__hlt(a, b)", holds([](double x, double y) { return x < y; }), TOOLKIT_BOTH(__hlt(h.a, h.b))},
              {"__hgt(a, b)", holds([](double x, double y) { return x > y; }), TOOLKIT_BOTH(__hgt(h.a, h.b))},
              {"__hequ(a, b)", holds([&](double x, double y) { return x == y || unordered(x, y); }),
               TOOLKIT_BOTH(__hequ(h.a, h.b))},
              {"__hneu(a, b)", holds([](double x, double y) { return x != y; }), TOOLKIT_BOTH(__hneu(h.a, h.b))},
              {"__hleu(a, b)", holds([](double x, double y) { return !(x > y); }), TOOLKIT_BOTH(__hleu(h.a, h.b))},
              {"__hgeu(a, b)", holds([](double x, double y) { return !(x < y); }), TOOLKIT_BOTH(__hgeu(h.a, h.b))},
              {"__hltu(a, b)", holds([](double x, double y) { return !(x >= y); }), TOOLKIT_BOTH(__hltu(h.a, h.b))},
              {"__hgtu(a, b)", holds([](double x, double y) { return !(x <= y); }), TOOLKIT_BOTH(__hgtu(h.a, h.b))},
              {"a == b", holds([](double x, double y) { return x == y; }), TOOLKIT_BOTH(h.a == h.b)},
              {"a != b", holds([](double x, double y) { return x != y; }), TOOLKIT_BOTH(h.a != h.b)},
              {"a < b", holds([](double x, double y) { return x < y; }), TOOLKIT_BOTH(h.a < h.b)},
              {"a >= b", holds([](double x, double y) { return x >= y; }), TOOLKIT_BOTH(h.a >= h.b)}},
             many_values(format));
}

TEST_P(ShimHalfArithmetic, FunctionsOfEveryValue) {
  const auto exactly = [this](double (*function)(double)) {
    return rounded([function](double x, double) { return function(x); });
  };
  expect_all(format,
             {{"__hneg(a)", exactly([](double x) { return -x; }), TOOLKIT_BOTH(__hneg(h.a))},
              {"-a", exactly([](double x) { return -x; }), TOOLKIT_BOTH(-h.a)},
              {"__habs(a)", exactly(std::fabs), TOOLKIT_BOTH(__habs(h.a))},
              {"__hisnan(a)", holds([](double x, double) { return std::isnan(x); }), TOOLKIT_BOTH(__hisnan(h.a))},
              {"__hisinf(a)",
               [this](const Operand& o) { return std::isinf(value(o.a)) ? (value(o.a) < 0 ? ~0u : 1u) : 0u; }, nullptr},
              {"(bool)a", holds([](double x, double) { return x != 0; }), TOOLKIT_BOTH(static_cast<bool>(h.a))},
              {"hfloor(a)", exactly(std::floor), nullptr},
              {"hceil(a)", exactly(std::ceil), nullptr},
              {"htrunc(a)", exactly(std::trunc), nullptr},
              {"hrint(a)", exactly(std::nearbyint), nullptr},
              {"hsqrt(a)", exactly(std::sqrt), nullptr},
              {"hrcp(a)", exactly([](double x) { return 1 / x; }), nullptr},
              {"++a", exactly([](double x) { return x + 1; }), nullptr}},
             every_value());
}

// The C library's functions of float are not exact: a result may be the neighbour of the nearest number.
TEST_P(ShimHalfArithmetic, MathematicsIsWithinOneNeighbour) {
  struct Function {
    std::string name;
    double (*exact)(double);
  };
  const std::vector<Function> functions{{"exp", std::exp},
                                        {"exp2", std::exp2},
                                        {"exp10", [](double x) { return std::pow(10.0, x); }},
                                        {"log", std::log},
                                        {"log2", std::log2},
                                        {"log10", std::log10},
                                        {"sin", std::sin},
                                        {"cos", std::cos},
                                        {"tanh", std::tanh},
                                        {"tanh_approx", std::tanh},
                                        {"rsqrt", [](double x) { return 1 / std::sqrt(x); }}};
  std::vector<Operation> operations;
  for (const Function& function : functions) operations.push_back({"h" + function.name + "(a)", nullptr, nullptr});
  const std::vector<Operand> operands = every_value();
  const std::vector<uint32_t> results = run_all(format, operations, operands);
  const auto place = [](uint32_t bits) {  // numbers in order have consecutive places
    return (bits & 0x8000) != 0 ? -static_cast<int>(bits & 0x7fff) : static_cast<int>(bits);
  };
  for (size_t k = 0; k < functions.size(); ++k) {
    for (size_t i = 0; i < operands.size(); ++i) {
      const uint32_t got = results[k * operands.size() + i];
      const uint16_t nearest = format.round(functions[k].exact(value(operands[i].a)));
      ASSERT_LE(std::abs(place(got) - place(nearest)), nearest == kNarrowNan ? 0 : 1)
          << format.name << ": " << operations[k].expression << " of " << value(operands[i].a) << " gives "
          << format.value(static_cast<uint16_t>(got));
    }
  }
}
}  // namespace
}  // namespace sandbox::cpu::test
