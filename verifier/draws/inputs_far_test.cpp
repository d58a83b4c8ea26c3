// Inputs of exponentials that count by their number alone, and of sums that come far and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "benchsuite/problem.h"
#include "core/paths.h"
#include "verifier/draws/elements.h"
#include "verifier/draws/inputs.h"

namespace verifier::draws {
namespace {
using benchsuite::Init;
using benchsuite::Tensor;
using core::DType;
using core::Expr;
using testing::Contains;
using testing::Not;

const core::Bindings kLong{{"B", 4}, {"S", 4096}};

Tensor rows_of_128(Init kind = Init::normal) {
  Tensor made{"x", DType::bf16, {Expr::parse("B"), Expr::parse("S"), Expr::constant(128)}, {}};
  made.init.kind = kind;
  made.init.low = -2;
  made.init.high = 2;
  return made;
}
std::vector<double> content_of_rows(const Tensor& tensor, Distribution distribution, uint64_t key) {
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes(kLong)));
  fill_input(bytes, tensor, kLong, distribution, key);
  return load_elements(tensor.dtype, bytes);
}
std::vector<double> row_means(const std::vector<double>& values, size_t columns) {
  std::vector<double> found;
  for (size_t i = 0; i < values.size(); i += columns) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i);
    found.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(columns), 0.0) /
                    static_cast<double>(columns));
  }
  return found;
}

// Times the mean of q and the root of 128, the mean of a row of k is its score.
TEST(Inputs, ScoresOfFarRowsLieTwoToTwelveBelowFew) {
  int beyond_ten = 0, rows = 0;
  std::set<bool> seldom;
  for (uint64_t key = 1; key <= 8; ++key) {
    const std::vector<double> k = row_means(content_of_rows(rows_of_128(), Distribution::far_rows, key), 128);
    const std::vector<double> q =
        row_means(content_of_rows(rows_of_128(Init::uniform), Distribution::far_rows, key), 128);
    const auto high = std::ranges::count_if(k, [](double mean) { return mean > -0.25; });
    EXPECT_GE(high, 1) << key;
    EXPECT_LE(high, 16384 / 16) << key;
    seldom.insert(high < 16384 / 256);
    for (const double mean : k) EXPECT_NEAR(mean, mean > -0.25 ? 0 : -0.552, 0.08);
    for (const double mean : q) {
      EXPECT_GT(mean, 0.25);
      EXPECT_LT(mean, 2);
      beyond_ten += 0.552 * mean * std::sqrt(128.0) > 10;
      ++rows;
    }
  }
  EXPECT_EQ(seldom.size(), 2u);
  EXPECT_GT(beyond_ten, rows / 8);
}

TEST(Inputs, FarElementsLieBelowOneOfTheirRow) {
  const std::vector<double> values = content_of_rows(rows_of_128(), Distribution::far_elements, 3);
  std::vector<double> distances;
  for (auto row = values.begin(); row != values.end(); row += 128) {
    std::vector<double> sorted(row, row + 128);
    std::ranges::sort(sorted);
    distances.push_back(sorted[127] - sorted[64]);
  }
  const auto beyond = [&](double distance) {
    return std::ranges::count_if(distances, [&](double d) { return d > distance; });
  };
  EXPECT_NEAR(static_cast<double>(beyond(7)) / static_cast<double>(distances.size()), 0.5, 0.1);
  EXPECT_EQ(beyond(14), 0);
}

// Each of the normal inputs in turn; the others are ordinary.
TEST(Inputs, OneNormalInputIsFar) {
  const auto problem_of = [](const char* name) {
    return benchsuite::load_problem(core::installed_paths().problems() / name);
  };
  const benchsuite::Problem attention = problem_of("attention_bf16");  // k and v are normal, q is uniform
  const core::Bindings& axes = attention.workloads.front().axes;
  std::set<size_t> far;
  for (unsigned kind = 0; kind < kKinds; ++kind) {
    const auto of = [&](Distribution distribution, size_t input) {
      return distribution_of(attention, axes, distribution, with_kind(1, kind), input);
    };
    const size_t chosen = of(Distribution::far_rows, 0) == Distribution::far_rows ? 0 : 2, other = 2 - chosen;
    far.insert(chosen);
    EXPECT_EQ(of(Distribution::far_rows, other), Distribution::ordinary);
    EXPECT_EQ(of(Distribution::far_rows, 1), Distribution::far_rows);
  }
  EXPECT_EQ(far, (std::set<size_t>{0, 2}));
  EXPECT_EQ(far_for(problem_of("softmax_f32")), Distribution::far_elements);
  EXPECT_EQ(far_for(problem_of("gemm_bf16")), std::nullopt);
}

// Sums of products stay finite, in any order; a softmax alone still meets the number.
TEST(Inputs, NamedNumbersLeaveRoomForSums) {
  const auto largest_named = [](const char* name, const core::Bindings& axes) {
    const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / name);
    return number_for(problem, axes, problem.inputs.size() - 1, 3e38);
  };
  EXPECT_LT(largest_named("varlen_attention_bf16", {{"T", 1000}, {"H", 1}, {"S", 2}}), 3e34);
  EXPECT_GT(largest_named("varlen_attention_bf16", {{"T", 1000}, {"H", 1}, {"S", 2}}), 1e34);
  EXPECT_EQ(largest_named("softmax_f32", {{"M", 4}, {"N", 1000}}), 3e38);
}

}  // namespace
}  // namespace verifier::draws
