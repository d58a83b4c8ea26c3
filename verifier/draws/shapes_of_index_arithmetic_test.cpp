#include "verifier/draws/shapes_of_index_arithmetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/paths.h"

namespace verifier::draws {
namespace {

benchsuite::Problem problem(const std::string& name) {
  return benchsuite::load_problem(core::installed_paths().problems() / name);
}

TEST(ShapesOfIndexArithmetic, EachPairOfAxesPasses16Bits) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  const Pairs of_conv = {{"H", "W"}, {"B", "H"}, {"B", "W"}}, of_upsample = {{"C", "N"}, {"H", "N"}, {"H", "W"}};
  for (const auto& [name, pairs] :
       {std::pair("conv2d_bf16", of_conv), {"upsample_nearest_backward_f32", of_upsample}}) {
    const benchsuite::Problem of = problem(name);
    statistics::Keys keys(1);
    for (int i = 0; i < 20; ++i) {
      const auto shapes = draw_shapes_of_pairs(of, 1 << 19, 8'000'000, keys);
      const auto passes = [&](const std::string& one, const std::string& other, int64_t odd) {
        return std::ranges::any_of(shapes, [&](const core::Bindings& axes) {
          return axes.at(one) * axes.at(other) > 1 << 16 && axes.at(one) % 2 == odd && axes.at(other) % 2 == odd;
        });
      };
      for (const auto& [one, other] : pairs) {
        EXPECT_TRUE(passes(one, other, 1)) << name << ": " << one << other;
        EXPECT_TRUE(passes(one, other, 0)) << name << ": " << one << other;
      }
    }
  }
}

TEST(ShapesOfIndexArithmetic, QuotientsAreThoseThatAShortReciprocalMisses) {
  const benchsuite::Problem permute = problem("permute_f16");
  const source::SourceNumbers numbers =
      source::numbers_of("const int h = (int)(unit * (1.0f / packs)); if (d < 8) return;", {});
  EXPECT_TRUE(numbers.multiplies_by_reciprocals);
  EXPECT_FALSE(
      source::numbers_of("const int h = unit / packs; const float half = 1.5f / 3;", {}).multiplies_by_reciprocals);
  int found = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    statistics::Keys keys(seed);
    const auto shapes = draw_shapes_of_quotients(permute, numbers, 1 << 19, 8'000'000, keys);
    EXPECT_LE(shapes.size(), 32);
    found += std::ranges::any_of(shapes, [](const core::Bindings& axes) {
      const auto packs = static_cast<float>(axes.at("D") / 8);
      return axes.at("D") % 8 == 0 && axes.at("H") > 1 && static_cast<int>(packs * (1.0f / packs)) == 0;
    });
  }
  EXPECT_GT(found, 40);
}

TEST(ShapesOfIndexArithmetic, SizesPassPowersOfTwoOrMultiplesOfTheSource) {
  const benchsuite::Problem histogram = problem("histogram_i32");
  const source::SourceNumbers numbers = source::numbers_of("int chunks = (N + 999) / 1000;", {});
  int beyond_powers = 0, beyond_multiples = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    statistics::Keys keys(seed);
    for (const core::Bindings& axes :
         draw_shapes_of_rounded_sizes(histogram, numbers, (1 << 24) + (1 << 20), 1 << 29, keys)) {
      const int64_t size = axes.at("N");
      beyond_powers += size % (1 << 20) >= 1 && size % (1 << 20) <= 4;
      beyond_multiples += size > 1 << 24 && (size % 1000 == 1 || size % 999 == 1);
    }
  }
  EXPECT_GT(beyond_powers, 10);
  EXPECT_GT(beyond_multiples, 10);
}

TEST(ShapesOfIndexArithmetic, AnAxisThatBoundsValuesReachesItsEnd) {
  const benchsuite::Problem unique = problem("unique_i32");
  statistics::Keys keys(1);
  const auto shapes = draw_shapes_of_bounds(unique, 1 << 15, 8'000'000, keys);
  ASSERT_EQ(shapes.size(), 2);
  EXPECT_EQ(shapes[0].at("R"), 1 << 28);
  EXPECT_GE(shapes[1].at("R"), 1 << 27);
  EXPECT_GE(shapes[0].at("N"), 64);
  EXPECT_TRUE(draw_shapes_of_bounds(problem("gelu_f32"), 1 << 15, 8'000'000, keys).empty());
}

}  // namespace
}  // namespace verifier::draws
