#include "core/expr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace core {
namespace {

int64_t eval(const std::string& text, const Bindings& bindings = {}) { return Expr::parse(text).eval(bindings); }

std::string error_of(const std::string& text, const Bindings& bindings = {}) {
  try {
    eval(text, bindings);
  } catch (const ExprError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Expr, Arithmetic) {
  EXPECT_EQ(eval("1 + 2 * 3"), 7);
  EXPECT_EQ(eval("(1 + 2) * 3"), 9);
  EXPECT_EQ(eval("-7 / 2"), -3);
  EXPECT_EQ(eval("-7 % 3"), -1);
  EXPECT_EQ(eval("10 - 4 - 3"), 3);
  EXPECT_EQ(eval("2 - -3"), 5);
}

TEST(Expr, FunctionsAndNames) {
  EXPECT_EQ(eval("ceil_div(N, BLOCK)", {{"N", 1000}, {"BLOCK", 256}}), 4);
  EXPECT_EQ(eval("ceil_div(-7, 2)"), -3);
  EXPECT_EQ(eval("min(3, 1, 2) + max(4, 9)"), 10);
  EXPECT_THAT(Expr::parse("4 * M + min(N, M)").names(), testing::ElementsAre("M", "N"));
}

TEST(Expr, ComparisonsGiveOneOrZero) {
  EXPECT_EQ(eval("BLOCK * VEC <= 2048", {{"BLOCK", 512}, {"VEC", 4}}), 1);
  EXPECT_EQ(eval("2 == 3"), 0);
  EXPECT_EQ(eval("2 != 3"), 1);
  EXPECT_EQ(eval("3 > 2"), 1);
}

TEST(Expr, ErrorsNameFaultAndColumn) {
  EXPECT_THAT(error_of("1 / 0"), testing::HasSubstr("division by zero"));
  EXPECT_THAT(error_of("1 % 0"), testing::HasSubstr("division by zero"));
  EXPECT_THAT(error_of("9223372036854775807 + 1"), testing::HasSubstr("overflows"));
  EXPECT_THAT(error_of("(0 - 9223372036854775807 - 1) / -1"), testing::HasSubstr("overflows"));
  EXPECT_THAT(error_of("9223372036854775808"), testing::HasSubstr("64 bits"));
  EXPECT_THAT(error_of("BLOK * 2", {{"BLOCK", 1}}), testing::HasSubstr("did you mean \"BLOCK\""));
  EXPECT_THAT(error_of("ceildiv(4, 2)"), testing::HasSubstr("did you mean \"ceil_div\""));
  EXPECT_THAT(error_of("2 +"), testing::HasSubstr("column 4"));
  EXPECT_THAT(error_of("2 3"), testing::HasSubstr("unexpected '3'"));
  EXPECT_THAT(error_of(std::string(500, '(')), testing::HasSubstr("deeply"));
  EXPECT_THAT(error_of(std::string(500, '-') + "1"), testing::HasSubstr("deeply"));
}

// Found by fuzzing: each level evaluated its first operand twice.
TEST(Expr, NestingCostsNoMoreThanItsLength) {
  std::string text = "7";
  for (int i = 0; i < 60; ++i) text = "min(" + text + ", 9)";
  EXPECT_EQ(Expr::parse(text).eval({}), 7);
}

}  // namespace
}  // namespace core
