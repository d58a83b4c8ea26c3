#include "verifier/draws/shapes_of_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/paths.h"

namespace verifier::draws {
namespace {

source::SourceNumbers numbers_with(std::vector<int64_t> decisive, std::vector<int64_t> others) {
  source::SourceNumbers numbers;
  numbers.decisive = std::move(decisive);
  numbers.others = std::move(others);
  return numbers;
}

TEST(ShapesOfNumbers, WideShapesMeetTheNumbersOfSeveralAxesAtOnce) {
  const benchsuite::Problem transpose = benchsuite::load_problem(core::installed_paths().problems() / "transpose_f32");
  const source::SourceNumbers both = source::numbers_of("if (M > 600 && M < 2400 && N > 300) x = m * 8;", {});
  const benchsuite::Problem permute = benchsuite::load_problem(core::installed_paths().problems() / "permute_f16");
  const source::SourceNumbers vectors = source::numbers_of("const short at = s; if (D % 8 == 0) return;", {});
  int odd = 0, beyond = 0;
  constexpr int kSeeds = 200;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    statistics::Keys keys(seed);
    odd += std::ranges::any_of(
        draw_wide_shapes_of_numbers(transpose, both, 12, 1 << 19, 1 << 26, keys), [](const core::Bindings& axes) {
          return axes.at("M") > 600 && axes.at("M") < 2400 && axes.at("M") % 8 != 0 && axes.at("N") > 300;
        });
    beyond +=
        std::ranges::any_of(draw_wide_shapes_of_numbers(permute, vectors, 12, 1 << 19, 1 << 26, keys),
                            [](const core::Bindings& axes) { return axes.at("S") > 1 << 15 && axes.at("D") % 8 == 0; });
    for (const core::Bindings& axes : draw_wide_shapes_of_numbers(permute, vectors, 12, 1 << 19, 1 << 26, keys)) {
      for (const benchsuite::Axis& axis : permute.axes) EXPECT_TRUE(axis.contains(axes.at(axis.name)));
    }
  }
  EXPECT_GT(odd, kSeeds * 95 / 100);
  EXPECT_GT(beyond, kSeeds * 95 / 100);
  statistics::Keys keys(1);
  EXPECT_TRUE(draw_wide_shapes_of_numbers(transpose, {}, 12, 1 << 19, 1 << 26, keys).empty());
}

TEST(ShapesOfNumbers, AnAxisMayEndWhereANarrowTypeDoes) {
  benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / "transpose_f32");
  problem.axes[0].max = 256;
  const source::SourceNumbers counts = source::numbers_of("uint8_t rows = 0; rows += 1;", {});
  statistics::Keys keys(1);
  const auto shapes = draw_wide_shapes_of_numbers(problem, counts, 12, 1 << 19, 1 << 26, keys);
  EXPECT_TRUE(
      std::ranges::any_of(shapes, [&](const core::Bindings& axes) { return axes.at(problem.axes[0].name) == 256; }));
}

// The shapes that one judgement draws.
std::vector<core::Bindings> shapes_that_meet(const benchsuite::Problem& problem, const std::string& source,
                                             uint64_t seed) {
  statistics::Keys keys(seed);
  const auto shapes =
      draw_shapes_of_conditions(problem, source::numbers_of(source, {{"TILE", 96}}), 5, 1 << 21, 1 << 28, keys);
  for (const core::Bindings& axes : shapes) {
    for (const benchsuite::Axis& axis : problem.axes) EXPECT_TRUE(axis.contains(axes.at(axis.name))) << axis.name;
  }
  return shapes;
}

// Shapes meet all conditions of a path for whole tiles at once, even where only the largest allowed shape does, and
// have more than one tile where no condition gives a size.
TEST(ShapesOfNumbers, ConditionsOfSeveralAxesAreMetAtOnce) {
  const benchsuite::Problem gemm = benchsuite::load_problem(core::installed_paths().problems() / "gemm_f32");
  const auto some = [](const std::vector<core::Bindings>& shapes, auto&& is) {
    return std::ranges::any_of(
        shapes, [&](const core::Bindings& axes) { return is(axes.at("M"), axes.at("N"), axes.at("K")); });
  };
  constexpr int kSeeds = 100;
  int with_tiles = 0, large = 0, several = 0, small = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    with_tiles += some(shapes_that_meet(gemm,
                                        "if (M % 128 == 0 && N % TILE == 0 && K % 64 == 32 && M >= 384 && N >= 384 && "
                                        "K >= 320) k = K / 64;",
                                        seed),
                       [](int64_t m, int64_t n, int64_t k) {
                         return m % 128 == 0 && n % 96 == 0 && k % 64 == 32 && m >= 384 && n >= 384 && k >= 320;
                       });
    large += some(shapes_that_meet(gemm, "if (M >= 512 && N >= 512 && K >= 512 && K % 64 == 0) return;", seed),
                  [](int64_t m, int64_t n, int64_t k) { return m >= 512 && n >= 512 && k >= 512 && k % 64 == 0; });
    const auto whole = shapes_that_meet(gemm, "if (M % 128 == 0 && N % 128 == 0 && K % 64 == 0) return;", seed);
    several += some(whole, [](int64_t m, int64_t n, int64_t k) {
      return m % 128 == 0 && n % 128 == 0 && k % 64 == 0 && m + n > 256 && k > 64;
    });
    small += some(shapes_that_meet(gemm, "if (M <= 1024 && M >= 256 && M % 128 == 0) return;", seed),
                  [](int64_t m, int64_t, int64_t) { return m <= 1024 && m >= 256 && m % 128 == 0; });
  }
  EXPECT_GT(with_tiles, kSeeds * 95 / 100);
  EXPECT_GT(large, kSeeds * 95 / 100);
  EXPECT_GT(several, kSeeds * 95 / 100);
  EXPECT_GT(small, kSeeds * 95 / 100);
}

// Wrong kernels that were once accepted: the last of an odd number of parts is forgotten, and a function, a template or
// a difference hides the parts.
TEST(ShapesOfNumbers, AnOddNumberOfPartsIsMetBehindCalls) {
  const std::string whole = "template <int TILE> __device__ bool is_whole(int size) { return size % TILE == 0; } ";
  const auto met = [](const std::string& problem_name, const std::string& source, std::vector<std::string> args,
                      auto&& fails) {
    const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / problem_name);
    sandbox::Launch launch;
    launch.kernel = "f";
    launch.args = std::move(args);
    const source::SourceNumbers numbers = source::numbers_of(source, {{"BLOCK", 256}, {"PACKS", 4}}, {{launch}});
    int seeds = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      statistics::Keys keys(seed);
      const auto shapes = draw_shapes_of_conditions(problem, numbers, 5, 1 << 21, 1 << 28, keys);
      EXPECT_LE(shapes.size(), 5u);
      seeds += std::ranges::any_of(shapes, [&](const core::Bindings& axes) { return fails(axes); });
    }
    return seeds;
  };
  EXPECT_GT(met("gemm_i8_bf16",
                whole + "__global__ void f(int8_t* a, int M, int N, int K) { if (is_whole<128>(M) && is_whole<128>(N) "
                        "&& is_whole<32>(K) && K > 32) for (int pairs = K / 32 / 2; pairs > 0; --pairs) add<32>(); }",
                {"a", "M", "N", "K"},
                [](core::Bindings axes) {
                  return axes["M"] % 128 == 0 && axes["N"] % 128 == 0 && axes["K"] % 64 == 32 && axes["K"] > 32;
                }),
            90);
  EXPECT_GT(
      met("conv2d_bf16",
          whole + "constexpr int kPixels = 8; __global__ void f(float* x, int H, int W, int C, int K) { const int "
                  "groups = (W + kPixels - 1) / kPixels; if (m >= K) return; const bool whole = is_whole<16>(C) "
                  "&& is_whole<32>(K) && is_whole<16>(W); if (whole && C == 16) add<16>(); else if (whole) for "
                  "(int pairs = C / 16 / 2; pairs > 0; --pairs) add<32>(); }",
          {"x", "H", "W", "C", "K"},
          [](core::Bindings axes) {
            return axes["C"] % 32 == 16 && axes["C"] > 16 && axes["K"] % 32 == 0 && axes["W"] % 16 == 0;
          }),
      90);
  EXPECT_GT(met("max_pool2d_f32",
                whole + "__global__ void f(float* x, int H, int W) { const int across = (W + 1) / 2, down = (H + 1) / "
                        "2; if (is_whole<128>(W) && is_whole<16>(H) && H > 16) rows(blockIdx.z * 16); }",
                {"x", "H", "W"},
                [](core::Bindings axes) { return axes["W"] % 128 == 0 && axes["H"] % 32 == 16 && axes["H"] > 16; }),
            90);
  EXPECT_GT(met("upsample_nearest_backward_f32",
                "__device__ void sum_image(float* from, int height, int width) { if (width % 128 == 0 && height % 8 == "
                "0 && height > 8) rows(blockIdx.z * 16); } __global__ void f(float* x, int H, int W) { sum_image(x + "
                "(size_t)blockIdx.x * 4 * H * W, H, W); }",
                {"x", "H", "W"},
                [](core::Bindings axes) { return axes["W"] % 128 == 0 && axes["H"] % 16 == 8 && axes["H"] > 8; }),
            90);
  EXPECT_GT(met("rmsnorm_f16",
                "__global__ void f(float* x, int N) { const int vectors = N % 8 == 0 ? N / 8 : 0; const int steps = "
                "vectors / BLOCK, left = vectors - steps * BLOCK; int step = PACKS; for (; step + 1 < steps; step += "
                "2) x(); if (left > 0) x(); }",
                {"x", "N"}, [](core::Bindings axes) { return axes["N"] > 8192 && axes["N"] % 4096 == 2048; }),
            90);
}

// Conditions of one axis may exclude each other: each is still met together with each of another axis.
TEST(ShapesOfNumbers, TwoConditionsOfDifferentAxesAreMetTogether) {
  const benchsuite::Problem pool = benchsuite::load_problem(core::installed_paths().problems() / "max_pool2d_f32");
  int both = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    both += std::ranges::any_of(
        shapes_that_meet(pool, "if (W % 128 == 0 && (H / 16) % 2 == 1) a(); if (H % 32 == 0 || W == 96) b();", seed),
        [](const core::Bindings& axes) { return axes.at("W") % 128 == 0 && axes.at("H") % 32 == 16; });
  }
  EXPECT_GT(both, 95);
}

// K % 8 == 0 and K % 8 == 3 cannot both be met: they take turns. A number beyond the domain is left out, and where
// nothing is asked of an axis, there is no shape.
TEST(ShapesOfNumbers, ConditionsThatExcludeEachOtherTakeTurns) {
  const benchsuite::Problem gemm = benchsuite::load_problem(core::installed_paths().problems() / "gemm_f32");
  int met[8] = {};
  for (uint64_t seed = 0; seed < 40; ++seed) {
    for (const core::Bindings& axes : shapes_that_meet(
             gemm, "if (K % 8 == 0) a(); else if (K % 8 == 3) b(); if (M > 1000000000) c(); if (N == 96) d();", seed))
      ++met[axes.at("K") % 8];
  }
  const int others = met[1] + met[2] + met[4] + met[5] + met[6] + met[7];
  EXPECT_GT(met[0], others);
  EXPECT_GT(met[3], others);
  EXPECT_TRUE(shapes_that_meet(gemm, "if (row < 90) return;", 1).empty());
}

// A kernel that errs at multiples, one more, one less, a few more, or beyond a number is met in each of these ways.
TEST(ShapesOfNumbers, EachAxisMeetsADecisiveNumberInEachWay) {
  const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / "gemm_f32");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    statistics::Keys keys(seed);
    const auto shapes = draw_shapes_of_numbers(problem, numbers_with({2048}, {77}), 64, 1 << 17, 8'000'000, keys);
    EXPECT_LE(shapes.size(), 64u);
    for (const char* axis : {"M", "N", "K"}) {
      const auto some = [&](auto&& is) {
        return std::ranges::any_of(shapes, [&](const core::Bindings& axes) { return is(axes.at(axis)); });
      };
      EXPECT_TRUE(some([](int64_t n) { return n == 2048; })) << axis;
      EXPECT_TRUE(some([](int64_t n) { return n % 2048 == 2047; })) << axis;
      EXPECT_TRUE(some([](int64_t n) { return n > 2048 && n % 2048 == 1; })) << axis;
      EXPECT_TRUE(some([](int64_t n) { return n > 2048 && n % 64 != 0; })) << axis;
      EXPECT_TRUE(some([](int64_t n) { return n % 77 == 0; })) << axis;
    }
  }
}

TEST(ShapesOfNumbers, ShortOnesMeetAConditionEach) {
  const benchsuite::Problem norm = benchsuite::load_problem(core::installed_paths().problems() / "rmsnorm_f16");
  const source::SourceNumbers numbers =
      source::numbers_of("if (N % 4096 == 0) return; if (N > 30000) x = 1; if (M >= 200) x = 2;", {});
  for (uint64_t seed = 0; seed < 50; ++seed) {
    statistics::Keys keys(seed);
    const auto shapes = draw_short_shapes_of_conditions(norm, numbers, 6, 1 << 20, 1 << 26, keys);
    const auto some = [&](const auto& meets) { return std::ranges::any_of(shapes, meets); };
    EXPECT_LE(shapes.size(), 3);
    EXPECT_TRUE(some([](const core::Bindings& axes) { return axes.at("N") % 4096 == 0 && axes.at("M") <= 8; }));
    EXPECT_TRUE(some([](const core::Bindings& axes) { return axes.at("N") > 30000 && axes.at("M") <= 8; }));
    EXPECT_TRUE(some([](const core::Bindings& axes) { return axes.at("M") >= 200 && axes.at("N") <= 8; }));
  }
  // An axis that bounds values is mostly as large as the axis that is asked for.
  const benchsuite::Problem unique = benchsuite::load_problem(core::installed_paths().problems() / "unique_i32");
  int close = 0;
  constexpr int kSeeds = 100;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    statistics::Keys keys(seed);
    close += std::ranges::any_of(
        draw_short_shapes_of_conditions(unique, source::numbers_of("if (N % 65536 == 0) return;", {}), 6, 1 << 20,
                                        1 << 26, keys),
        [](const core::Bindings& axes) { return axes.at("N") % 65536 == 0 && axes.at("R") == axes.at("N"); });
  }
  EXPECT_GT(close, kSeeds / 3);
}

TEST(ShapesOfNumbers, ShapesKeepToDomainsAndLimits) {
  benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / "gemm_f32");
  for (benchsuite::Axis& axis : problem.axes) {
    if (axis.name == "K") axis.values = {8, 48, 100};
  }
  statistics::Keys keys(3);
  for (const core::Bindings& axes :
       draw_shapes_of_numbers(problem, numbers_with({40000, 1 << 29}, {5}), 64, 1 << 17, 8'000'000, keys)) {
    for (const benchsuite::Axis& axis : problem.axes) EXPECT_TRUE(axis.contains(axes.at(axis.name)));
    EXPECT_LE(axes.at("M") * axes.at("N"), 1 << 17);
  }
  EXPECT_TRUE(draw_shapes_of_numbers(problem, {}, 64, 1 << 17, 8'000'000, keys).empty());
}

}  // namespace
}  // namespace verifier::draws
