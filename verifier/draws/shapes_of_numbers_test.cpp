#include "verifier/draws/shapes_of_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/paths.h"

namespace verifier::draws {
namespace {

TEST(ShapesOfNumbers, WideShapesMeetTheNumbersOfSeveralAxesAtOnce) {
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

// What a path for whole tiles asks for is met at once, and so is most of it.
TEST(ShapesOfNumbers, ConditionsOfSeveralAxesAreMetAtOnce) {
  const benchsuite::Problem gemm = benchsuite::load_problem(core::installed_paths().problems() / "gemm_f32");
  const SourceNumbers numbers =
      numbers_of("if (M % 128 == 0 && N % TILE == 0 && K % 64 == 32 && M >= 384 && N >= 384 && K >= 384) k = K / 64;",
                 {{"TILE", 96}});
  constexpr int kSeeds = 200;
  int but_for_one = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    statistics::Keys keys(seed);
    const auto shapes = draw_shapes_of_conditions(gemm, numbers, 8, 1 << 21, 1 << 29, keys);
    const auto met = [](const core::Bindings& axes) {
      return (axes.at("M") % 128 == 0) + (axes.at("N") % 96 == 0) + (axes.at("K") % 64 == 32) + (axes.at("M") >= 384) +
             (axes.at("N") >= 384) + (axes.at("K") >= 384);
    };
    EXPECT_TRUE(std::ranges::any_of(shapes, [&](const core::Bindings& axes) { return met(axes) == 6; })) << seed;
    but_for_one += std::ranges::any_of(shapes, [&](const core::Bindings& axes) { return met(axes) == 5; });
    for (const core::Bindings& axes : shapes) {
      for (const benchsuite::Axis& axis : gemm.axes) EXPECT_TRUE(axis.contains(axes.at(axis.name)));
    }
  }
  EXPECT_GT(but_for_one, kSeeds * 9 / 10);
}

// K % 8 == 0 and K % 8 == 3 cannot both be met, and M > 2^40 never: one of them is, and the rest stays in the domain.
TEST(ShapesOfNumbers, ConditionsThatExcludeEachOtherTakeTurns) {
  const benchsuite::Problem gemm = benchsuite::load_problem(core::installed_paths().problems() / "gemm_f32");
  const SourceNumbers numbers =
      numbers_of("if (K % 8 == 0) a(); else if (K % 8 == 3) b(); if (M > 1000000000) c();", {});
  std::set<int64_t> remainders;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    statistics::Keys keys(seed);
    for (const core::Bindings& axes : draw_shapes_of_conditions(gemm, numbers, 8, 1 << 21, 1 << 29, keys))
      remainders.insert(axes.at("K") % 8);
  }
  EXPECT_TRUE(remainders.contains(0));
  EXPECT_TRUE(remainders.contains(3));
  statistics::Keys keys(1);
  EXPECT_TRUE(
      draw_shapes_of_conditions(gemm, numbers_of("if (row < 90) return;", {}), 8, 1 << 21, 1 << 29, keys).empty());
}

// A kernel that errs at multiples, one more, one less, a few more, or beyond a number is met in each of these ways.
TEST(ShapesOfNumbers, EachAxisMeetsADecisiveNumberInEachWay) {
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

TEST(ShapesOfNumbers, ShapesKeepToDomainsAndLimits) {
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
