#include "verifier/comparison/difference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace verifier::comparison {
namespace {
using core::DType;

template <typename T>
double difference(DType dtype, const std::vector<T>& a, const std::vector<T>& b) {
  return largest_difference(dtype, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

TEST(Difference, IsRelativeToTheOtherSide) {
  EXPECT_EQ(difference<float>(DType::f32, {3, 4}, {3, 4}), 0);
  EXPECT_NEAR(difference<float>(DType::f32, {3, 5}, {3, 4}), 1 / std::sqrt(12.5), 1e-12);
  EXPECT_NEAR(difference<float>(DType::f32, {300, 500}, {300, 400}), 1 / std::sqrt(12.5), 1e-12);
}

TEST(Difference, IsInfiniteWhereNothingCompares) {
  EXPECT_EQ(difference<float>(DType::f32, {NAN, 4}, {3, 4}), INFINITY);
  EXPECT_EQ(difference<float>(DType::f32, {INFINITY, 4}, {3, 4}), INFINITY);
  EXPECT_EQ(difference<float>(DType::f32, {1, 0}, {0, 0}), INFINITY);
  EXPECT_EQ(difference<int32_t>(DType::i32, {1, 2}, {1, 3}), INFINITY);
}

TEST(Difference, IsNoneWhereBothSidesAreTheSameNonFinite) {
  EXPECT_EQ(difference<float>(DType::f32, {NAN, INFINITY, 1}, {-NAN, INFINITY, 1}), 0);
}

}  // namespace
}  // namespace verifier::comparison
