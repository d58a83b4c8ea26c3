#include "verifier/draws/shapes_of_products.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "benchsuite/problem.h"
#include "core/paths.h"

namespace verifier::draws {
namespace {
std::vector<core::Bindings> shapes_of(const std::string& problem, const std::string& source, statistics::Keys& keys) {
  const ProductLimits limits{4, 1 << 20, 8'000'000, 1 << 22, 1 << 25};
  return draw_shapes_of_products(benchsuite::load_problem(core::installed_paths().problems() / problem),
                                 source::numbers_of(source, {}), limits, keys);
}

TEST(ShapesOfProducts, LieOnBothSides) {
  statistics::Keys keys(7);
  for (int i = 0; i < 50; ++i) {
    const auto shapes = shapes_of("softmax_f32", "if (M * N > 20000) run(); if (M * N % 4096 == 0) run();", keys);
    const auto any = [&](const auto& is) {
      return std::ranges::any_of(shapes, [&](const core::Bindings& axes) { return is(axes.at("M") * axes.at("N")); });
    };
    EXPECT_TRUE(any([](int64_t n) { return n > 20000; }));
    EXPECT_TRUE(any([](int64_t n) { return n <= 20000 && n >= 10000; }));
    EXPECT_TRUE(any([](int64_t n) { return n % 4096 == 0; }));
    EXPECT_LE(shapes.size(), 3);
  }
}

TEST(ShapesOfProducts, OneMayBeLarge) {
  statistics::Keys keys(7);
  for (int i = 0; i < 50; ++i) {
    const auto shapes = shapes_of("groupnorm_f16", "const int size = C / 32; if (HW * size < 65536) run();", keys);
    EXPECT_TRUE(std::ranges::any_of(
        shapes, [](const core::Bindings& axes) { return axes.at("HW") * (axes.at("C") / 32) >= 65536; }));
  }
}

TEST(ShapesOfProducts, AxesAreEqualAndMeetWhatIsAskedOfOne) {
  statistics::Keys keys(7);
  int equal = 0, all = 0;
  for (int i = 0; i < 50; ++i) {
    for (const core::Bindings& axes : shapes_of("concat_bf16", "if (N2 == 3 * N1 && N1 % 8 == 0) run();", keys)) {
      if (axes.at("N2") != 3 * axes.at("N1")) continue;
      ++equal;
      all += axes.at("N1") % 8 == 0;
    }
  }
  EXPECT_GE(equal, 45);
  EXPECT_GE(all, 15);
}

TEST(ShapesOfProducts, NoneOfOtherNames) {
  statistics::Keys keys(7);
  EXPECT_TRUE(shapes_of("softmax_f32", "if (i * N > 20000 || M > 70) run();", keys).empty());
}

}  // namespace
}  // namespace verifier::draws
