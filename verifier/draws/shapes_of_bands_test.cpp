#include "verifier/draws/shapes_of_bands.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "benchsuite/problem.h"
#include "core/paths.h"

namespace verifier::draws {
namespace {
sandbox::Solution with(const std::string& problem, const std::string& grid, const std::string& body) {
  return sandbox::parse_solution(
      "/* kernelwright\n{\"problem\": \"" + problem + "\", \"launches\": [{\"kernel\": \"k\", \"grid\": [" + grid +
          "], \"block\": [1], \"args\": []}]}\n*/\nextern \"C\" __global__ void k() {" + body + "}",
      "test.cu");
}

std::vector<core::Bindings> shapes_of(const sandbox::Solution& solution, statistics::Keys& keys) {
  const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / solution.problem);
  const sandbox::TunableBinding none;
  const BandLimits limits{1 << 20, 8'000'000, (1 << 24) + (1 << 21), 1 << 26};
  return draw_shapes_of_bands({solution, none}, problem, source::numbers_of(solution.source, none, solution.launches),
                              limits, keys);
}

// Of so many blocks, some beyond the last whole band.
bool ends_in_part(int64_t blocks, int64_t band) { return blocks > band && blocks % band != 0; }

TEST(ShapesOfBands, EndWithABandThatIsNotWhole) {
  const sandbox::Solution solution =
      with("gemm_bf16", R"g("ceil_div(N, 64)", "ceil_div(M, 128)")g",
           "const int pid = blockIdx.y * gridDim.x + blockIdx.x, band = pid / (32 * gridDim.x), of_eight = pid / 8;");
  statistics::Keys keys(7);
  for (int i = 0; i < 20; ++i) {
    const auto shapes = shapes_of(solution, keys);
    for (const int64_t band : {8, 32}) {
      EXPECT_TRUE(std::ranges::any_of(shapes, [&](const core::Bindings& axes) {
        return ends_in_part((axes.at("M") + 127) / 128, band) && axes.at("N") > 64;
      }));
      EXPECT_TRUE(std::ranges::any_of(shapes, [&](const core::Bindings& axes) {
        return ends_in_part((axes.at("N") + 63) / 64, band) && axes.at("M") > 128;
      }));
    }
  }
}

TEST(ShapesOfBands, SidesMayBeProductsOfAxesAndNeedALargeShape) {
  const sandbox::Solution solution =
      with("rope_bf16", R"g("B * S", "ceil_div(ceil_div(H, 4) * ceil_div(D / 2, 8), 128)")g",
           "const int pid = blockIdx.y * gridDim.x + blockIdx.x, band = pid / (1024 * gridDim.y);");
  statistics::Keys keys(7);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(std::ranges::any_of(shapes_of(solution, keys), [](const core::Bindings& axes) {
      return ends_in_part(axes.at("B") * axes.at("S"), 1024) &&
             (axes.at("H") + 3) / 4 * ((axes.at("D") / 2 + 7) / 8) > 128;
    }));
  }
}

TEST(ShapesOfBands, OneDimensionMayHoldTheBlocksOfTwoAxes) {
  const sandbox::Solution solution = with("gemm_bf16", R"g("ceil_div(N, 64) * ceil_div(M, 64)")g",
                                          "const int pid = blockIdx.x; const int band = pid / (16 * tiles);");
  statistics::Keys keys(7);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(std::ranges::any_of(shapes_of(solution, keys), [](const core::Bindings& axes) {
      return ends_in_part((axes.at("M") + 63) / 64, 16) && axes.at("N") > 64;
    }));
  }
}

TEST(ShapesOfBands, NoneWhereBlocksAreTakenAsTheyCome) {
  statistics::Keys keys(7);
  const sandbox::Solution plain = with("gemm_bf16", R"g("ceil_div(N, 64)", "ceil_div(M, 128)")g",
                                       "const int m0 = blockIdx.y * 128, n0 = blockIdx.x * 64, rest = K % 32;");
  EXPECT_TRUE(shapes_of(plain, keys).empty());
}

}  // namespace
}  // namespace verifier::draws
