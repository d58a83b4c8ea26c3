#include "verifier/draws/shapes_of_related_axes.h"

#include <gtest/gtest.h>

#include <bit>

#include "core/paths.h"

namespace verifier::draws {
namespace {

std::vector<core::Bindings> drawn_for(const std::string& name, const std::string& source) {
  const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / name);
  statistics::Keys keys(5);
  const auto shapes = draw_shapes_of_related_axes(problem, source::numbers_of(source, {}), 72, 1 << 21, 1 << 26, keys);
  EXPECT_EQ(shapes.size(), 72u);
  for (const core::Bindings& shape : shapes) {
    for (const benchsuite::Axis& axis : problem.axes) EXPECT_TRUE(axis.contains(shape.at(axis.name)));
  }
  return shapes;
}

TEST(ShapesOfRelatedAxes, TwoAxesAreEqualAndMeetWhatIsAskedOfEither) {
  int squares = 0, asked = 0, odd = 0;
  for (const core::Bindings& axes :
       drawn_for("upsample_nearest_f32", "if (H == W && H > 200 && W % 16 == 0) return squares();")) {
    const int64_t side = axes.at("H");
    if (side != axes.at("W") || side < 129) continue;
    ++squares;
    odd += side % 2;
    asked += side > 200 && side % 16 == 0;
  }
  EXPECT_GE(squares, 6);
  EXPECT_GE(asked, 1);
  EXPECT_GE(odd, 1);
}

TEST(ShapesOfRelatedAxes, OneIsAMultipleOfTheOtherOrTheirSumOrProductIsAPowerOfTwo) {
  int multiples = 0, sums = 0, products = 0;
  for (const core::Bindings& axes : drawn_for("concat_bf16", "")) {
    const int64_t one = axes.at("N1"), other = axes.at("N2");
    if (one == other || one * other < 600) continue;
    const auto is_power = [](int64_t size) { return std::has_single_bit(static_cast<uint64_t>(size)); };
    multiples += std::max(one, other) % std::min(one, other) == 0 && !is_power(one) && !is_power(other);
    sums += is_power(one + other);
    products += is_power(one) && is_power(other);
  }
  EXPECT_GE(multiples, 2);
  EXPECT_GE(sums, 2);
  EXPECT_GE(products, 2);
}

}  // namespace
}  // namespace verifier::draws
