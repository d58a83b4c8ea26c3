#include "verifier/draws/source_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/paths.h"

namespace verifier::draws {
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
      "constexpr int kStretch = kLanes * PARTS * 8; if (n % kStretch < 3 * kLanes * 7) part[1 << 13];",
      {});
  for (const int64_t number : {16, 64, 2560, 1344}) {
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

TEST(SourceNumbers, ANumberBelongsToTheNameThatItIsComparedWith) {
  const SourceNumbers numbers = numbers_of("if (M > 600 && 300 <= N && D % 8 == 0 || p[4] < 90) n = M << 5;", {});
  EXPECT_EQ(numbers.compared, (std::vector<std::pair<std::string, int64_t>>{{"M", 600}, {"N", 300}, {"D", 8}}));
}

TEST(SourceNumbers, FloatingLiteralsAreValuesWithTheirSign) {
  const SourceNumbers numbers = numbers_of(
      "float most = -1e38f, least = FLT_MAX; y = x - 0.5f * n; if (x[i] < -16.6) return -0x1p-3f; "
      "m = __uint_as_float(0xff7fffffu); z = max(x, -5.f) + 0.0f; h = n > 40;",
      {});
  EXPECT_EQ(numbers.values, (std::vector<double>{-1e38, std::numeric_limits<float>::max(), -16.6,
                                                 -std::numeric_limits<float>::max(), -5, 0.5, -0.125, 40}));
}

TEST(SourceNumbers, NarrowTypesEnd) {
  EXPECT_EQ(numbers_of("const short s = i; uint8_t b = i;", {}).ends_of_types,
            (std::vector<int64_t>{1 << 15, 1 << 16, 1 << 8}));
  EXPECT_TRUE(numbers_of("const int s = i; // short\n", {}).ends_of_types.empty());
}

TEST(SourceNumbers, WideShapesMeetTheNumbersOfSeveralAxesAtOnce) {
  const benchsuite::Problem transpose = benchsuite::load_problem(core::installed_paths().problems() / "transpose_f32");
  const SourceNumbers both = numbers_of("if (M > 600 && M < 2400 && N > 300) x = m * 8;", {});
  const benchsuite::Problem permute = benchsuite::load_problem(core::installed_paths().problems() / "permute_f16");
  const SourceNumbers vectors = numbers_of("const short at = s; if (D % 8 == 0) return;", {});
  int odd = 0, beyond = 0;
  constexpr int kSeeds = 200;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    statistics::Keys keys(seed);
    odd += std::ranges::any_of(
        draw_wide_shapes_of_numbers(transpose, both, 12, 1 << 19, 1 << 26, keys), [](const core::Bindings& axes) {
          return axes.at("M") > 600 && axes.at("M") < 2400 && axes.at("M") % 8 != 0 && axes.at("N") > 300;
        });
    beyond +=
        std::ranges::any_of(draw_wide_shapes_of_numbers(permute, vectors, 12, 1 << 19, 1 << 26, keys),
                            [](const core::Bindings& axes) { return axes.at("S") > 1 << 15 && axes.at("D") % 8 == 0; });
    for (const core::Bindings& axes : draw_wide_shapes_of_numbers(permute, vectors, 12, 1 << 19, 1 << 26, keys)) {
      for (const benchsuite::Axis& axis : permute.axes) EXPECT_TRUE(axis.contains(axes.at(axis.name)));
    }
  }
  EXPECT_GT(odd, kSeeds * 95 / 100);
  EXPECT_GT(beyond, kSeeds * 95 / 100);
  statistics::Keys keys(1);
  EXPECT_TRUE(draw_wide_shapes_of_numbers(transpose, {}, 12, 1 << 19, 1 << 26, keys).empty());
}

// A kernel that errs at multiples, one more, one less, a few more, or beyond a number is met in each of these ways.
TEST(SourceNumbers, EachAxisMeetsADecisiveNumberInEachWay) {
  const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / "gemm_f32");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    statistics::Keys keys(seed);
    const auto shapes = draw_shapes_of_numbers(problem, {{2048}, {77}, {}, {}, {}}, 64, 1 << 17, 8'000'000, keys);
    EXPECT_LE(shapes.size(), 64u);
    for (const char* axis : {"M", "N", "K"}) {
      const auto some = [&](auto&& is) {
        return std::ranges::any_of(shapes, [&](const core::Bindings& axes) { return is(axes.at(axis)); });
      };
      EXPECT_TRUE(some([](int64_t n) { return n == 2048; })) << axis;
      EXPECT_TRUE(some([](int64_t n) { return n % 2048 == 2047; })) << axis;
      EXPECT_TRUE(some([](int64_t n) { return n > 2048 && n % 2048 == 1; })) << axis;
      EXPECT_TRUE(some([](int64_t n) { return n > 2048 && n % 64 != 0; })) << axis;
      EXPECT_TRUE(some([](int64_t n) { return n % 77 == 0; })) << axis;
    }
  }
}

TEST(SourceNumbers, ShapesKeepToDomainsAndLimits) {
  benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / "gemm_f32");
  for (benchsuite::Axis& axis : problem.axes) {
    if (axis.name == "K") axis.values = {8, 48, 100};
  }
  statistics::Keys keys(3);
  for (const core::Bindings& axes :
       draw_shapes_of_numbers(problem, {{40000, 1 << 29}, {5}, {}, {}, {}}, 64, 1 << 17, 8'000'000, keys)) {
    for (const benchsuite::Axis& axis : problem.axes) EXPECT_TRUE(axis.contains(axes.at(axis.name)));
    EXPECT_LE(axes.at("M") * axes.at("N"), 1 << 17);
  }
  EXPECT_TRUE(draw_shapes_of_numbers(problem, {}, 64, 1 << 17, 8'000'000, keys).empty());
}

}  // namespace
}  // namespace verifier::draws
