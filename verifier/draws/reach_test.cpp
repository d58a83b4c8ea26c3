#include "verifier/draws/reach.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "benchsuite/problem.h"
#include "core/paths.h"

namespace verifier::draws {
namespace {

benchsuite::Problem row_sum() { return benchsuite::load_problem(core::installed_paths().problems() / "row_sum_f32"); }

const sandbox::TunableBinding kNone;

sandbox::Solution with_grid(const std::string& grid, const std::string& workspace_bytes = "4") {
  return sandbox::parse_solution(R"(/* kernelwright
{"problem": "row_sum_f32", "workspace": {"some": {"bytes": ")" +
                                     workspace_bytes + R"("}},
 "launches": [{"kernel": "k", "grid": [")" +
                                     grid +
                                     R"("], "block": [512], "args": ["x", "some", "y", "M", "N"]}]}
*/
extern "C" __global__ void k(const float* x, float* some, float* y, int M, int N) {})",
                                 "test.cu");
}

TEST(Reach, ComesNearerUntilAGridOfBlocksPerRowIsSmallEnough) {
  const benchsuite::Problem problem = row_sum();
  const sandbox::Solution solution = with_grid("M");
  const Plan rows{solution, kNone};
  const core::Bindings axes{{"M", 1024}, {"N", 3}};
  EXPECT_EQ(threads_of(rows, problem, axes), 1024 * 512);
  EXPECT_EQ(most_blocks(rows, problem, axes), 1024);
  EXPECT_EQ(within_reach(rows, problem, axes, 1 << 18, 0.5), (core::Bindings{{"M", 512}, {"N", 3}}));
  EXPECT_FALSE(has_persistent_grid(rows, problem, axes, 1));
}

TEST(Reach, ComesNearerUntilTheTensorsFitIntoMemory) {
  const benchsuite::Problem problem = row_sum();
  const core::Bindings axes{{"M", 64}, {"N", 1024}};
  const int64_t bytes = 4 * 64 * 1024 + (4 + 4 + 8) * 64;  // x, and for each row two sums and one in double
  EXPECT_EQ(within_memory(problem, axes, bytes), axes);
  EXPECT_EQ(within_memory(problem, axes, bytes - 1), (core::Bindings{{"M", 64}, {"N", 768}}));
  EXPECT_EQ(within_memory(problem, axes, 4), std::nullopt);
}

TEST(Reach, OfAPersistentGridIsToldByOtherThanItsThreads) {
  const benchsuite::Problem problem = row_sum();
  const sandbox::Solution solution = with_grid("264");
  const Plan persistent{solution, kNone};
  const core::Bindings axes{{"M", 16384}, {"N", 1}};
  EXPECT_EQ(within_reach(persistent, problem, axes, 1 << 16), axes);
  EXPECT_TRUE(has_persistent_grid(persistent, problem, axes, 264 * 512));
  EXPECT_FALSE(has_persistent_grid(persistent, problem, axes, 264 * 512 + 1));
  EXPECT_FALSE(has_persistent_grid(persistent, problem, {{"M", 1}, {"N", 1}}, 1));  // no nearer shape
}

TEST(Reach, HasShapesAtWhichAGridComesRound) {
  const benchsuite::Problem problem = row_sum();
  statistics::Keys keys(7);
  const auto shapes_of = [&](const std::string& grid) {
    const sandbox::Solution solution = with_grid(grid);
    return shapes_of_rounds({solution, kNone}, problem, 1 << 24, 1 << 28, 1 << 23, keys);
  };
  for (int i = 0; i < 20; ++i) {
    const auto rows = shapes_of("min(M, 2112)");
    ASSERT_EQ(rows.size(), 1);
    EXPECT_GT(rows[0].at("M"), 2112);
    EXPECT_LE(rows[0].at("M"), 4 * 2112);
    EXPECT_LE(rows[0].at("N"), 4096);
    const auto tiles = shapes_of("min(ceil_div(M, 64) * ceil_div(N, 64), 100)");
    ASSERT_EQ(tiles.size(), 2);
    for (const core::Bindings& axes : tiles) {
      EXPECT_GT((axes.at("M") + 63) / 64 * ((axes.at("N") + 63) / 64), 100);
      EXPECT_LE(axes.at("M") * axes.at("N"), 1 << 24);
    }
  }
  benchsuite::Problem listed = problem;
  listed.axes[0].values = {1, 64, 4096, 16384};
  listed.axes[0].max = 16384;
  const sandbox::Solution rows = with_grid("min(M, 3000)");
  for (int i = 0; i < 50; ++i) {  // no listed size lies between one and two rounds
    for (const core::Bindings& axes : shapes_of_rounds({rows, kNone}, listed, 1 << 24, 1 << 28, 1 << 23, keys)) {
      EXPECT_GT(axes.at("M"), 3000);
    }
  }
  EXPECT_TRUE(shapes_of("M").empty());
  EXPECT_TRUE(shapes_of("264").empty());            // nothing says when it comes round
  EXPECT_TRUE(shapes_of("min(M, 20000)").empty());  // of 512 threads: too many
}

TEST(Reach, GridsOfManyBlocksByFew) {
  const benchsuite::Problem problem = row_sum();
  const sandbox::Solution solution = with_grid("ceil_div(M, 64) * ceil_div(N, 32)");
  int beyond_bands = 0;
  constexpr int kSeeds = 50;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    statistics::Keys keys(seed);
    const auto shapes = shapes_of_grids({solution, kNone}, problem, 1 << 20, 1 << 28, keys);
    for (const core::Bindings& axes : shapes) EXPECT_LE(axes.at("M") * axes.at("N"), 1 << 20);
    // A band of eight blocks along M is not whole, and there is more than one along N.
    beyond_bands += std::ranges::any_of(shapes, [](const core::Bindings& axes) {
      const int64_t down = (axes.at("M") + 63) / 64, across = (axes.at("N") + 31) / 32;
      return down > 8 && down % 8 != 0 && across > 1 && across <= 5;
    });
  }
  EXPECT_EQ(beyond_bands, kSeeds);
  statistics::Keys keys(1);
  const sandbox::Solution rows = with_grid("M");
  EXPECT_TRUE(shapes_of_grids({rows, kNone}, problem, 1 << 20, 1 << 28, keys).empty());  // it grows along one axis
}

TEST(Reach, ExcusesOnlyWorkspacesOfAboutTheTensorsSize) {
  const benchsuite::Problem problem = row_sum();
  const core::Bindings axes{{"M", 1024}, {"N", 1024}};
  const int64_t most = 1 << 20;
  EXPECT_TRUE(lends_enough({with_grid("M"), kNone}, problem, axes, most));
  EXPECT_FALSE(lends_enough({with_grid("M", "8 * M * N"), kNone}, problem, axes, most));
  EXPECT_TRUE(
      lends_enough({with_grid("M", "800 * M * N"), kNone}, problem, axes, most));  // its own fault, said at its launch
}

}  // namespace
}  // namespace verifier::draws
