// math_constants.h: every constant is the nearest number of its type.
#include <gtest/gtest.h>

#include <cmath>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu::test {
namespace {
const long double kPi = std::acos(-1.0L);
const long double kLn2 = std::log(2.0L), kLn10 = std::log(10.0L);

struct Constant {
  const char* name;  // without CUDART_
  long double value;
};
const std::vector<Constant> kOfBothTypes{{"ZERO", 0},
                                         {"ONE", 1},
                                         {"SQRT_HALF", std::sqrt(0.5L)},
                                         {"SQRT_TWO", std::sqrt(2.0L)},
                                         {"THIRD", 1.0L / 3},
                                         {"PIO4", kPi / 4},
                                         {"PIO2", kPi / 2},
                                         {"3PIO4", 3 * kPi / 4},
                                         {"PI", kPi},
                                         {"2_OVER_PI", 2 / kPi},
                                         {"L2E", 1 / kLn2},
                                         {"L2T", kLn10 / kLn2},
                                         {"LG2", kLn2 / kLn10},
                                         {"LGE", 1 / kLn10},
                                         {"LN2", kLn2},
                                         {"LNT", kLn10},
                                         {"LNPI", std::log(kPi)},
                                         {"TWO_TO_23", 0x1p23L},
                                         {"INF", HUGE_VALL}};
const std::vector<Constant> kOfFloat{{"SQRT_2_OVER_PI", std::sqrt(2 / kPi)},
                                     {"MIN_DENORM", 0x1p-149L},
                                     {"MAX_NORMAL", 0x1.fffffep127L},
                                     {"NORM_HUGE", 0x1.fffffep127L},
                                     {"TWO_TO_M126", 0x1p-126L},
                                     {"TWO_TO_126", 0x1p126L},
                                     {"TWO_TO_24", 0x1p24L},
                                     {"TWO_TO_31", 0x1p31L},
                                     {"TWO_TO_32", 0x1p32L},
                                     {"TRIG_PLOSS", 105615}};
const std::vector<Constant> kOfDouble{{"TWOTHIRD", 2.0L / 3},
                                      {"SQRT_2PI", std::sqrt(2 * kPi)},
                                      {"SQRT_PIO2", std::sqrt(kPi / 2)},
                                      {"SQRT_2OPI", std::sqrt(2 / kPi)},
                                      {"LN2_X_1024", 1024 * kLn2},
                                      {"LN2_X_1025", 1025 * kLn2},
                                      {"LN2_X_1075", 1075 * kLn2},
                                      {"LG2_X_1024", 1024 * kLn2 / kLn10},
                                      {"LG2_X_1075", 1075 * kLn2 / kLn10},
                                      {"MIN_DENORM", 0x1p-1074L},
                                      {"TWO_TO_52", 0x1p52L},
                                      {"TWO_TO_53", 0x1p53L},
                                      {"TWO_TO_54", 0x1p54L},
                                      {"TWO_TO_M54", 0x1p-54L},
                                      {"TWO_TO_M1022", 0x1p-1022L},
                                      {"TRIG_PLOSS", 0x1p31L},
                                      {"DBL2INT_CVT", 0x1.8p52L}};
// NAME_HI + NAME_LO is more exact than double.
const std::vector<Constant> kSplit{{"SQRT_HALF", std::sqrt(0.5L)},
                                   {"PIO4", kPi / 4},
                                   {"PIO2", kPi / 2},
                                   {"PI", kPi},
                                   {"SQRT_2PI", std::sqrt(2 * kPi)},
                                   {"SQRT_PIO2", std::sqrt(kPi / 2)},
                                   {"L2E", 1 / kLn2},
                                   {"LG2", kLn2 / kLn10},
                                   {"LGE", 1 / kLn10},
                                   {"LN2", kLn2},
                                   {"LNT", kLn10}};

TEST(ShimConstants, AreTheNearestNumbers) {
  std::string source = "#include <math_constants.h>\nextern \"C\" __global__ void k(double* out) {\n";
  std::vector<double> expected;
  const auto add = [&](const std::string& expression, double value) {
    source += "  out[" + std::to_string(expected.size()) + "] = " + expression + ";\n";
    expected.push_back(value);
  };
  for (const auto& [name, value] : kOfBothTypes) {
    add("CUDART_" + std::string(name), static_cast<double>(value));
    add("CUDART_" + std::string(name) + "_F", static_cast<double>(static_cast<float>(value)));
  }
  for (const auto& [name, value] : kOfFloat) {
    add("CUDART_" + std::string(name) + "_F", static_cast<double>(static_cast<float>(value)));
  }
  for (const auto& [name, value] : kOfDouble) add("CUDART_" + std::string(name), static_cast<double>(value));
  for (const auto& [name, value] : kSplit) {
    add("CUDART_" + std::string(name) + "_HI", static_cast<double>(value));
    // The host's long double knows the rest to a few digits, where it is longer than double at all.
    const auto high = static_cast<double>(value);
    const std::string rest = "CUDART_" + std::string(name) + "_LO", half_unit = std::to_string(std::ilogb(high) - 53);
    add("fabs(" + rest + ") <= ldexp(1.0, " + half_unit + ")", 1);
    if (sizeof(long double) > sizeof(double)) {
      add("fabs(" + rest + " - (" + std::to_string(static_cast<double>((value - high) * 0x1p60L)) +
              ") * 0x1p-60) < ldexp(1.0, " + half_unit + " - 8)",
          1);
    }
  }
  add("__double_as_longlong(CUDART_NAN) == (long long)0xfff8000000000000ull && CUDART_NAN_F != CUDART_NAN_F", 1);
  add("1 / CUDART_NEG_ZERO", -HUGE_VAL);
  add("1 / CUDART_NEG_ZERO_F", -HUGE_VAL);
  add("CUDART_REMQUO_BITS_F == 3 && CUDART_REMQUO_MASK_F == 7", 1);
  Device device(source + "}");
  const float* out = device.add_floats("out", 2 * expected.size());
  const auto fault = device.launch("k", 1, 1);
  ASSERT_FALSE(fault) << fault->describe();
  for (size_t i = 0; i < expected.size(); ++i) {
    double got;
    std::memcpy(&got, out + 2 * i, sizeof got);
    EXPECT_EQ(got, expected[i]) << "out[" << i << "] of\n" << source;
  }
}
}  // namespace
}  // namespace sandbox::cpu::test
