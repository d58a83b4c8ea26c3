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

// A kernel that is right at the listed shapes and below alone must not get far.
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

TEST(Shapes, EachAxisTakesEveryResidue) {
  for (const char* name : {"transpose_f32", "gemm_f32", "sum_f32"}) {
    const benchsuite::Problem problem = shipped_problem(name);
    statistics::Keys keys(3);
    const auto shapes = draw_residue_shapes(problem, 128, kFlops, keys);
    EXPECT_EQ(shapes.size(), problem.axes.size() > 1 ? 144u : 128u);  // with squares
    for (const benchsuite::Axis& axis : problem.axes) {
      std::set<int64_t> residues;
      for (const core::Bindings& axes : shapes) residues.insert(axes.at(axis.name) % 128);
      EXPECT_EQ(residues.size(), 128u) << axis.name;
    }
  }
}

constexpr int64_t kTensor = int64_t{1} << 30;

TEST(Shapes, CornersAreTheEndsOfEveryAxisThatADeviceCouldHold) {
  const auto sums = corner_shapes(shipped_problem("sum_f32"), kTensor);
  EXPECT_EQ(sums, (std::vector<core::Bindings>{{{"N", 1}}, {{"N", 268435456}}}));
  EXPECT_EQ(corner_shapes(shipped_problem("gemm_f32"), kTensor).size(), 8u);
  benchsuite::Problem wide = shipped_problem("transpose_f32");
  for (benchsuite::Axis& axis : wide.axes) axis.max = int64_t{1} << 30;
  const auto corners = corner_shapes(wide, kTensor);
  ASSERT_EQ(corners.size(), 4u);
  EXPECT_EQ(corners[3], (core::Bindings{{"M", int64_t{1} << 15}, {"N", int64_t{1} << 15}}));  // not 2^60 elements
}

TEST(Shapes, FarOnesEndTheDomainAndPass32Bits) {
  statistics::Keys keys(4);
  const benchsuite::Problem rows = shipped_problem("row_sum_f32");
  constexpr int64_t kSmall = int64_t{1} << 24, kLarge = int64_t{9} << 28, kManyFlops = int64_t{1} << 40;
  const auto small = far_shapes(rows, kSmall, kManyFlops, keys);
  ASSERT_EQ(small.size(), 3u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(std::max(small[i].at("M"), small[i].at("N")), 65536);
    EXPECT_LE(std::min(small[i].at("M"), small[i].at("N")), 3);
  }
  const int64_t balanced = small[2].at("M") * small[2].at("N");
  EXPECT_GT(balanced, kSmall * 15 / 16);
  EXPECT_GT(std::min(small[2].at("M"), small[2].at("N")), 64);
  EXPECT_EQ(small[2].at("M") % 2 + small[2].at("N") % 2, 2);
  const auto large = far_shapes(rows, kLarge, kManyFlops, keys);
  ASSERT_EQ(large.size(), 4u);
  const int64_t elements = large[3].at("M") * large[3].at("N");
  EXPECT_GT(elements, int64_t{1} << 31);
  EXPECT_LE(elements, kLarge);
  const auto products = far_shapes(shipped_problem("gemm_f32"), kSmall, kManyFlops, keys);
  ASSERT_EQ(products.size(), 5u);
  int64_t small_axes = 0;
  for (const auto& [name, size] : products[4]) small_axes += size <= 3;
  EXPECT_EQ(small_axes, 1);
  for (const core::Bindings& axes : far_shapes(shipped_problem("sum_f32"), kSmall, kManyFlops, keys)) {
    EXPECT_GT(axes.at("N"), kSmall / 8 * 7);  // as far as the limit lets it
    EXPECT_LE(axes.at("N"), kSmall);
  }
}

TEST(Shapes, LongOnesPassEveryListedSize) {
  statistics::Keys keys(5);
  const benchsuite::Problem rows = shipped_problem("row_sum_f32");
  std::set<int64_t> sizes;
  for (int i = 0; i < 20; ++i) {
    const auto shapes = draw_long_shapes(rows, "cpu", int64_t{1} << 24, int64_t{1} << 29, keys);
    ASSERT_EQ(shapes.size(), 2u);
    for (const core::Bindings& axes : shapes) {
      sizes.insert(std::max(axes.at("M"), axes.at("N")));
      EXPECT_LE(std::min(axes.at("M"), axes.at("N")), 3);
    }
  }
  EXPECT_GT(sizes.size(), 30u);
  EXPECT_GT(*sizes.rbegin(), 30000);
}

}  // namespace
}  // namespace verifier::draws
