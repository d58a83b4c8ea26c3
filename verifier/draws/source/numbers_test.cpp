#include "verifier/draws/source/numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace verifier::draws::source {
namespace {

TEST(SourceNumbers, ThoseBesideAComparisonDecide) {
  const SourceNumbers numbers = numbers_of(
      R"(/* 77 */ constexpr int kTile = 0x200; "88"; if (n % 500 == 0 || K > 2'048u || 1e6f < x) y[3 * 5] = 9.5f;)",
      {});
  EXPECT_EQ(numbers.decisive, (std::vector<int64_t>{512, 500, 2048}));
  EXPECT_EQ(numbers.others, (std::vector<int64_t>{3, 15, 5}));
}

// A kernel's stretch is mostly a product of constants.
TEST(SourceNumbers, ProductsOfConstantsDecideWhereTheyAreUsed) {
  const SourceNumbers numbers = numbers_of(
      "#define PARTS 5\nconstexpr int kVector = 16, kNone; constexpr int kStep = kLanes * 8; constexpr int kLanes = 64;"
      "constexpr int kStretch = kLanes * PARTS * 8; if (n % kStretch < 3 * kLanes * 7) part[1 << 13];"
      "static constexpr unsigned long kRows = 9, kColumns = kRows + 30, kLast = kRows * 30; if (n < kLast * 7) return;",
      {});
  for (const int64_t number : {16, 64, 2560, 1344, 1890}) {
    EXPECT_EQ(std::ranges::count(numbers.decisive, number), 1) << number;
  }
  EXPECT_EQ(std::ranges::count(numbers.others, 8192), 1);
}

TEST(SourceNumbers, ProductsOfNeighboursAndOfTunablesCount) {
  const SourceNumbers numbers =
      numbers_of("part[BLOCK * 4 * 3]; run(1 << 13); n % BLOCK", {{"BLOCK", 96}, {"ITEMS", 7}});
  EXPECT_EQ(std::ranges::count(numbers.decisive, 96), 0);  // a tunable's shapes come with the others
  for (const int64_t number : {384, 1152, 8192, 96, 7, 672}) {
    EXPECT_EQ(std::ranges::count(numbers.decisive, number) + std::ranges::count(numbers.others, number), 1) << number;
  }
}

TEST(SourceNumbers, WhatIsNoNumberDoesNoHarm) {
  const SourceNumbers numbers =
      numbers_of("= 0x = 09 = 99999999999999999999 = 1.5 = 0b = 12abc = 2147483647 * 2147483647", {});
  EXPECT_TRUE(numbers.decisive.empty());
  EXPECT_TRUE(numbers.others.empty());
}

TEST(SourceNumbers, FloatingLiteralsAreValuesWithTheirSign) {
  const SourceNumbers numbers = numbers_of(
      "float most = -1e38f, least = FLT_MAX; y = x - 0.5f * n; if (x[i] < -16.6) return -0x1p-3f; "
      "m = __uint_as_float(0xff7fffffu); z = max(x, -5.f) + 0.0f; h = n > 40;",
      {});
  EXPECT_EQ(numbers.values, (std::vector<double>{-1e38, std::numeric_limits<float>::max(), -16.6,
                                                 -std::numeric_limits<float>::max(), -5, 0.5, -0.125, 40}));
}

TEST(SourceNumbers, AnInputMayHoldAMultipleOfADivisor) {
  const std::string source =
      "constexpr int A = 11, B = 12, C = 13, D = 14; __global__ void f(const int* lengths, int S) { const int length = "
      "lengths[0]; if (length % (4 * KEYS) == 0 || S % 96 == 0) return; }";
  sandbox::Launch launch;
  launch.kernel = "f";
  launch.args = {"lengths", "S"};
  const std::vector<double> values = numbers_of(source, {{"KEYS", 64}}, std::vector{launch}).values;
  EXPECT_EQ(values, (std::vector<double>{256, 11, 12, 13, 14}));
}

TEST(SourceNumbers, ConstantExpressionsAreNumbers) {
  const SourceNumbers numbers = numbers_of(
      "constexpr int kFits = (48 * 1024 - 256) / sizeof(float), kHalf = kFits / 2; if (N > kFits || N > kHalf) return;",
      {});
  EXPECT_EQ(std::ranges::count(numbers.decisive, 12224), 1);
  EXPECT_EQ(std::ranges::count(numbers.decisive, 6112), 1);
}

TEST(SourceNumbers, NarrowTypesEnd) {
  EXPECT_EQ(numbers_of("const short s = i; uint8_t b = i;", {}).ends_of_types,
            (std::vector<int64_t>{1 << 15, 1 << 16, 1 << 8}));
  EXPECT_TRUE(numbers_of("const int s = i; // short\n", {}).ends_of_types.empty());
  EXPECT_EQ(numbers_of("id = id << 16 >> 16; low = id & 0xffu; n = 16; m = n & 16;", {}).ends_of_types,
            (std::vector<int64_t>{1 << 16, 1 << 8}));
}

}  // namespace
}  // namespace verifier::draws::source
