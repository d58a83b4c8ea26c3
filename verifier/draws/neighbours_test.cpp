#include "verifier/draws/neighbours.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "core/paths.h"

namespace verifier::draws {
namespace {

benchsuite::Problem layernorm() {
  return benchsuite::load_problem(core::installed_paths().problems() / "layernorm_f32");
}

std::vector<float> swayed(const benchsuite::Problem& problem, const core::Bindings& axes, std::vector<float> x,
                          uint64_t key) {
  const double rounding = std::sqrt(static_cast<double>(x.size())) * 0x1p-24;
  sway_input(std::as_writable_bytes(std::span(x)), problem.inputs[0], axes, rounding, key);
  return x;
}

double mean_of(const std::vector<float>& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v);
  return sum / static_cast<double>(x.size());
}

// One row far from zero: what a running float makes of its mean, and what the wave makes of it.
TEST(Neighbours, AWaveMovesAMeanAsARunningSumDoes) {
  const benchsuite::Problem problem = layernorm();
  for (const int64_t columns : {200, 4000}) {
    const core::Bindings axes{{"M", 1}, {"N", columns}};
    std::vector<float> x(static_cast<size_t>(columns));
    double wave = 0, running = 0;
    constexpr int kRows = 64;
    for (int row = 0; row < kRows; ++row) {
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = 100 + std::sin(static_cast<float>(i * i + 7 * static_cast<size_t>(row)));
      float sum = 0;
      for (const float v : x) sum += v;
      running += std::pow(static_cast<double>(sum) / static_cast<double>(columns) - mean_of(x), 2) / kRows;
      wave += std::pow(mean_of(swayed(problem, axes, x, static_cast<uint64_t>(row))) - mean_of(x), 2) / kRows;
    }
    EXPECT_GT(wave, running / 9) << columns;
    EXPECT_LT(wave, running * 9) << columns;
  }
}

// One element errs by as much as its draw happens to: neighbours show by how much it may.
TEST(Neighbours, AreWantedWhereOneElementDecides) {
  benchsuite::Problem loss = benchsuite::load_problem(core::installed_paths().problems() / "sum_f32");
  EXPECT_GT(neighbours_wanted(loss, {{"N", 1}}), 0u);
  EXPECT_GT(neighbours_wanted(loss, {{"N", 1000}}), 0u);
  const benchsuite::Problem gelu = benchsuite::load_problem(core::installed_paths().problems() / "gelu_f32");
  EXPECT_GT(neighbours_wanted(gelu, {{"N", 1}}), 0u);
  EXPECT_EQ(neighbours_wanted(gelu, {{"N", 1000}}), 0u);
}

TEST(Neighbours, AWaveLeavesWholeNumbersAlone) {
  benchsuite::Problem problem = layernorm();
  problem.inputs[0].init.kind = benchsuite::Init::integers;
  const std::vector<float> x(100, 1 << 20);
  EXPECT_EQ(swayed(problem, {{"M", 1}, {"N", 100}}, x, 1), x);
}

}  // namespace
}  // namespace verifier::draws
