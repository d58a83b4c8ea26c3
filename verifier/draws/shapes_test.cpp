#include "verifier/draws/shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/paths.h"

namespace verifier::draws {
namespace {
constexpr int64_t kElements = 1 << 17, kFlops = int64_t{1} << 33;

benchsuite::Problem shipped_problem(const std::string& name) {
  return benchsuite::load_problem(core::installed_paths().problems() / name);
}
std::vector<core::Bindings> drawn(const benchsuite::Problem& problem, uint64_t seed) {
  statistics::Keys keys(seed);
  return draw_unseen_shapes(problem, "cpu", 3, kElements, kFlops, keys);
}

TEST(Shapes, AreNewAndDistinctAndWithinTheLimits) {
  for (const char* name : {"transpose_f32", "gemm_f32", "sum_f32"}) {
    const benchsuite::Problem problem = shipped_problem(name);
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const auto shapes = drawn(problem, seed);
      EXPECT_GE(shapes.size(), 4u) << name;
      EXPECT_EQ(std::set<core::Bindings>(shapes.begin(), shapes.end()).size(), shapes.size());
      for (const core::Bindings& axes : shapes) {
        for (const benchsuite::Workload& workload : problem.workloads) EXPECT_NE(workload.axes, axes);
        for (const benchsuite::Tensor& tensor : problem.inputs) EXPECT_LE(tensor.elements(axes), kElements);
      }
    }
  }
}

// What is right at the listed shapes and below alone must not get far.
TEST(Shapes, EveryAxisPassesWhatIsListedSomewhere) {
  const benchsuite::Problem problem = shipped_problem("transpose_f32");
  for (const benchsuite::Axis& axis : problem.axes) {
    int64_t listed = 0;
    for (const benchsuite::Workload& workload : problem.workloads) {
      if (workload.runs_on("cpu")) listed = std::max(listed, workload.axes.at(axis.name));
    }
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const auto shapes = drawn(problem, seed);
      EXPECT_TRUE(std::any_of(shapes.begin(), shapes.end(),
                              [&](const core::Bindings& axes) { return axes.at(axis.name) > listed; }))
          << axis.name << " " << seed;
    }
  }
}

TEST(Shapes, OneIsOfMultiplesOf64AndOftenASquare) {
  const benchsuite::Problem problem = shipped_problem("transpose_f32");
  int squares = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const core::Bindings axes = drawn(problem, seed).back();
    EXPECT_EQ(axes.at("M") % 64, 0);
    EXPECT_EQ(axes.at("N") % 64, 0);
    squares += axes.at("M") == axes.at("N");
  }
  EXPECT_GE(squares, 10);
  EXPECT_LE(squares, 45);
}

}  // namespace
}  // namespace verifier::draws
