// Inputs with many equal elements: one value, and zeros of both signs.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "verifier/draws/inputs_fixture.h"

namespace verifier::draws {
namespace {
TEST(Inputs, ExceptionsOfOneValueLieAnywhereInAHalfOrNowhere) {
  Tensor integers = tensor(DType::i32, Init::integers);
  integers.init.most = Expr::constant(255);
  statistics::Keys keys(4);
  DrawKeys draws(keys);
  std::map<std::pair<bool, bool>, int> seen;  // exceptions in the first half, in the second
  for (int i = 0; i < 120; ++i) {
    const uint64_t key = draws.next(Distribution::one_value) & ~(uint64_t{7} << 3);  // the one value is the least
    const std::vector<double> values = drawn(integers, Distribution::one_value, key);
    const auto half = values.begin() + 32000;
    const auto first = 32000 - std::count(values.begin(), half, 0.0),
               second = 32000 - std::count(half, values.end(), 0.0);
    for (const auto exceptions : {first, second}) EXPECT_NEAR(exceptions, exceptions > 0 ? 500 : 0, 120);
    ++seen[{first > 0, second > 0}];
  }
  EXPECT_NEAR((seen[{false, false}]), 60, 3);
  EXPECT_NEAR((seen[{true, false}]), 20, 3);
  EXPECT_NEAR((seen[{false, true}]), 20, 3);
}

TEST(Inputs, SomeRowsHaveZerosOfBothSignsAndNoNegativeNumber) {
  const auto rows_after_relu = [](const Tensor& x, Distribution distribution, uint64_t key) {
    const std::vector<double> values = drawn(x, distribution, key);
    int rows = 0;
    for (auto row = values.begin(); row != values.end(); row += 1000) {
      const auto count = [&](const auto& is) { return std::count_if(row, row + 1000, is); };
      const auto zeros = count([](double v) { return v == 0; });
      const auto below = count([](double v) { return v == 0 && std::signbit(v); });
      rows += below > 0 && below < zeros && zeros < 1000 && *std::min_element(row, row + 1000) == 0;
    }
    return rows;
  };
  Tensor of_both_signs = tensor(DType::f32, Init::uniform), positive = of_both_signs;
  of_both_signs.init.low = -1;
  of_both_signs.init.high = 1;
  positive.init.low = 0;
  positive.init.high = 1;
  for (const Distribution distribution : {Distribution::ordered, Distribution::ties}) {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::f32, DType::f64})
      EXPECT_EQ(rows_after_relu(tensor(dtype), distribution, 5), 16) << name_of(distribution);
    EXPECT_EQ(rows_after_relu(of_both_signs, distribution, 5), 16) << name_of(distribution);
    EXPECT_EQ(rows_after_relu(positive, distribution, 5), 0);
  }
  int draws = 0;
  for (uint64_t key = 0; key < 100; ++key) {
    draws += rows_after_relu(tensor(DType::f32), Distribution::patchwork, key) > 0;
    EXPECT_EQ(rows_after_relu(positive, Distribution::patchwork, key), 0);
  }
  EXPECT_GT(draws, 5);
}

}  // namespace
}  // namespace verifier::draws
