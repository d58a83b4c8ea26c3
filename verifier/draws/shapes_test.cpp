#include "verifier/draws/shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/paths.h"
#include "verifier/draws/axis_sizes.h"

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

// Weights of a served layer alone may pass the limits; its batch is drawn all the same.
TEST(Shapes, AFixedTensorLeavesTheOthersSizesToDraw) {
  benchsuite::Problem problem = shipped_problem("gemm_f32");
  for (benchsuite::Axis& axis : problem.axes) {
    if (axis.name != "M") axis.min = axis.max = 4096;
  }
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::set<int64_t> sizes, residues;
    for (const core::Bindings& axes : drawn(problem, seed)) sizes.insert(axes.at("M"));
    EXPECT_GE(sizes.size(), 3u);
    EXPECT_LE(*sizes.rbegin(), kFlops / 2 / 4096 / 4096);
    statistics::Keys keys(seed);
    const Residues wanted{.count = 64, .inner_reach = 4096, .most_elements = 1 << 17, .most_flops = 1'000'000};
    for (const core::Bindings& axes : draw_residue_shapes(problem, wanted, keys)) residues.insert(axes.at("M"));
    EXPECT_EQ(residues, (std::set<int64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
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
  const Residues on_gpu{128, 1024, 1 << 20, kFlops}, on_cpu{64, 4096, 1 << 17, 1'000'000}, tight{64, 4096, 1 << 12, 20};
  for (const char* name : {"transpose_f32", "gemm_f32", "sum_f32"}) {
    const benchsuite::Problem problem = shipped_problem(name);
    for (const Residues& wanted : {on_gpu, on_cpu}) {
      statistics::Keys keys(3);
      const auto shapes = draw_residue_shapes(problem, wanted, keys);
      const auto count = static_cast<size_t>(wanted.count);
      const size_t with_squares = problem.axes.size() > 1 ? count / 8 * 9 : count;
      EXPECT_LE(shapes.size(), with_squares);
      EXPECT_GE(shapes.size(), with_squares - 4);  // some of which are too large
      for (const benchsuite::Axis& axis : problem.axes) {
        std::set<int64_t> residues;
        for (const core::Bindings& axes : shapes) residues.insert(axes.at(axis.name) % wanted.count);
        EXPECT_EQ(residues.size(), count) << axis.name;
      }
    }
  }
  statistics::Keys keys(3);
  EXPECT_LT(draw_residue_shapes(shipped_problem("gemm_f32"), tight, keys).size(), 64u);  // and ends
}

// A kernel may change its ways at rows of 512: some of those rows have a tail, on every device.
TEST(Shapes, LongRowsHaveManyResidues) {
  const benchsuite::Problem problem = shipped_problem("softmax_f32");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    statistics::Keys keys(seed);
    int odd = 0;
    for (const core::Bindings& axes : draw_residue_shapes(problem, {64, 4096, 1 << 17, 1'000'000}, keys)) {
      odd += axes.at("N") >= 512 && axes.at("N") % 16 != 0 ? 1 : 0;
    }
    EXPECT_GE(odd, 16) << seed;
  }
}

TEST(Shapes, EachTwoAxesAreWholeOnceWithATailOfAThird) {
  statistics::Keys keys(3);
  const benchsuite::Problem problem = shipped_problem("conv2d_bf16");
  int filters_and_width = 0;
  for (const core::Bindings& axes : draw_shapes_of_two_whole_axes(problem, 1 << 20, int64_t{1} << 30, keys)) {
    filters_and_width += axes.at("W") % 64 == 0 && axes.at("K") % 64 == 0 && axes.at("C") >= 5 && axes.at("C") <= 40;
  }
  EXPECT_GE(filters_and_width, 1);
  EXPECT_TRUE(draw_shapes_of_two_whole_axes(shipped_problem("transpose_f32"), 1 << 20, 1 << 30, keys).empty());
  const benchsuite::Problem of_listed = shipped_problem("attention_f16");  // its D is 64 or 128
  EXPECT_FALSE(draw_shapes_of_two_whole_axes(of_listed, 1 << 20, int64_t{1} << 30, keys).empty());
}

TEST(Shapes, LongSizesOfTheOnlyAxisHaveEachTailOfFour) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    statistics::Keys keys(seed);
    std::set<int64_t> tails;
    const auto shapes = draw_tails_of_the_only_axis(shipped_problem("vector_add_f32"), "cpu", 1 << 24, 1 << 29, keys);
    for (const core::Bindings& axes : shapes) tails.insert(axes.at("N") % 4);
    EXPECT_EQ(tails.size(), 4u) << seed;
    tails.clear();
    const benchsuite::Problem at_its_end =
        shipped_problem("dot_f32");  // whose largest workload is the end of its domain
    for (const core::Bindings& axes :
         draw_tails_of_the_only_axis(at_its_end, "cuda", 1 << 28, int64_t{1} << 34, keys)) {
      tails.insert(axes.at("N") % 4);
    }
    EXPECT_EQ(tails.size(), 4u) << seed;
  }
}

TEST(Shapes, LengthsSpanSeveralChunks) {
  const benchsuite::Problem problem = shipped_problem("decode_bf16");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    statistics::Keys keys(seed);
    const auto shapes = draw_shapes_of_long_counts(problem, 1 << 20, 8'000'000, keys);
    ASSERT_EQ(shapes.size(), 1u) << seed;
    EXPECT_GE(shapes[0].at("S"), 256);
    EXPECT_GE(shapes[0].at("B"), 4);
  }
  statistics::Keys keys(1);
  EXPECT_TRUE(draw_shapes_of_long_counts(shipped_problem("gemm_f32"), 1 << 20, 8'000'000, keys).empty());
}

// gemm_f32 whose K is one of few sizes; the workloads' own do not matter to what is drawn.
benchsuite::Problem with_listed_k(std::vector<int64_t> sizes) {
  benchsuite::Problem problem = shipped_problem("gemm_f32");
  benchsuite::Axis& axis = *std::ranges::find(problem.axes, "K", &benchsuite::Axis::name);
  axis.min = sizes.front();
  axis.max = sizes.back();
  axis.values = std::move(sizes);
  return problem;
}

std::set<int64_t> sizes_of_k(const std::vector<core::Bindings>& shapes) {
  std::set<int64_t> sizes;
  for (const core::Bindings& axes : shapes) sizes.insert(axes.at("K"));
  return sizes;
}

TEST(Shapes, OfAListTakeEveryValueAndNoOther) {
  const std::set<int64_t> listed{8, 48, 100};
  const benchsuite::Problem problem = with_listed_k({listed.begin(), listed.end()});
  statistics::Keys keys(6);
  EXPECT_EQ(sizes_of_k(draw_residue_shapes(problem, {128, 1024, 1 << 20, kFlops}, keys)), listed);
  EXPECT_EQ(sizes_of_k(corner_shapes(problem, int64_t{1} << 30)), (std::set<int64_t>{8, 100}));
  std::set<int64_t> unseen, distant;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    unseen.merge(sizes_of_k(drawn(problem, seed)));
    distant.merge(sizes_of_k(far_shapes(problem, int64_t{1} << 24, int64_t{1} << 40, int64_t{1} << 38, keys)));
    for (const int64_t size : sizes_of_k(draw_long_shapes(problem, "cpu", 1 << 20, int64_t{1} << 29, keys))) {
      EXPECT_TRUE(listed.contains(size)) << size;
    }
  }
  EXPECT_EQ(unseen, listed);
  EXPECT_EQ(distant, listed);
  core::Bindings near{{"M", 4}, {"N", 4}, {"K", 100}};
  come_nearer(problem, near, 0.75);
  EXPECT_EQ(near.at("K"), 48);
}

// 448 * 7 / 8 is 392, which rounds up to 448 again.
TEST(Shapes, ShortAxesAreCheckedAtTheirEnds) {
  const benchsuite::Problem problem = shipped_problem("grouped_gemm_bf16");  // E ends at 256, the others far beyond
  statistics::Keys keys(1);
  const auto shapes = draw_ends_of_axes(problem, 2'000'000, keys);
  ASSERT_FALSE(shapes.empty());
  EXPECT_TRUE(std::ranges::any_of(shapes, [](const core::Bindings& axes) { return axes.at("E") == 256; }));
  for (const core::Bindings& axes : shapes) EXPECT_LE(cost_of(problem, axes), 2'000'000);
  const benchsuite::Problem decode = shipped_problem("paged_decode_bf16");  // a few of many pages are read
  for (const core::Bindings& axes : draw_ends_of_axes(decode, 2'000'000, keys)) {
    EXPECT_LE(largest_tensor(decode, axes), 2'000'000);
  }
}

TEST(Shapes, FarOnesOfMultiplesComeNearerUntilTheyFit) {
  benchsuite::Problem problem = shipped_problem("row_sum_f32");
  for (benchsuite::Axis& axis : problem.axes) axis.min = axis.multiple_of = 64;
  statistics::Keys keys(7);
  for (const int64_t most : {64 * 1000, 64 * 64, 1}) {
    for (const core::Bindings& axes : far_shapes(problem, most, int64_t{1} << 40, int64_t{1} << 38, keys)) {
      EXPECT_LE(axes.at("M") * axes.at("N"), std::max<int64_t>(most, 8 * 64 * 64));
      for (const benchsuite::Axis& axis : problem.axes) EXPECT_TRUE(axis.contains(axes.at(axis.name)));
    }
  }
  core::Bindings near{{"M", 64}, {"N", 448}};
  come_nearer(problem, near, 0.75);
  EXPECT_EQ(near.at("N"), 320);
}

TEST(Shapes, OfAListPassWhatIsListedInWorkloadsWhereTheyCan) {
  benchsuite::Problem problem = with_listed_k({8, 1 << 14, 1 << 16});
  for (benchsuite::Workload& workload : problem.workloads) workload.axes["K"] = 8;
  statistics::Keys keys(6);
  std::set<int64_t> sizes;
  for (int i = 0; i < 20; ++i) {
    sizes.merge(sizes_of_k(draw_long_shapes(problem, "cpu", int64_t{1} << 20, int64_t{1} << 29, keys)));
  }
  EXPECT_EQ(sizes, (std::set<int64_t>{8, 1 << 14, 1 << 16}));
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

TEST(Shapes, FarOnesOfProductsAreMostlyLongerThanAnyBenchShapeOnAllSides) {
  const benchsuite::Problem product = shipped_problem("gemm_f32");
  const int64_t bench = bench_size(product, "cuda").flops;
  statistics::Keys keys(8);
  int longer = 0;
  for (int i = 0; i < 40; ++i) {
    for (const core::Bindings& axes : far_shapes(product, int64_t{1} << 32, bench, 3 * bench, keys)) {
      longer += std::ranges::all_of(axes, [](const auto& axis) { return axis.second > 4500; });
    }
  }
  EXPECT_GT(longer, 25);
}

// A kernel may take whole tiles by two axes and forget the third one's tail.
TEST(Shapes, CrossedOnesHaveEachSetOfAxesRound) {
  const auto crossed = [](const benchsuite::Problem& problem, int times, uint64_t seed) {
    statistics::Keys keys(seed);
    return draw_crossed_shapes(problem, "cpu", times, kElements, kFlops, keys);
  };
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const std::vector<core::Bindings> shapes = crossed(shipped_problem("gemm_f32"), 10, seed);
    EXPECT_EQ(shapes.size(), 72u);
    for (const char* rough : {"M", "N", "K"}) {
      EXPECT_TRUE(std::ranges::any_of(shapes,
                                      [&](const core::Bindings& axes) {
                                        return std::ranges::all_of(axes, [&](const auto& axis) {
                                          return (axis.second % 16 == 0) != (axis.first == rough);
                                        });
                                      }))
          << rough << " " << seed;
    }
    EXPECT_TRUE(std::ranges::any_of(
        shapes, [](const core::Bindings& axes) { return axes.at("M") == axes.at("N") && axes.at("K") % 4 != 0; }));
    const std::vector<core::Bindings> of_one = crossed(shipped_problem("sum_f32"), 32, seed);
    EXPECT_EQ(of_one.size(), 32u);
    EXPECT_TRUE(std::ranges::any_of(
        of_one, [](const core::Bindings& axes) { return axes.at("N") % 512 == 0 && axes.at("N") % 4096 != 0; }));
  }
}

TEST(Shapes, MiddleOnesAreLongInEachAxisInTurn) {
  const benchsuite::Problem softmax = shipped_problem("softmax_f32");
  std::set<int64_t> octaves;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    statistics::Keys keys(seed);
    const std::vector<core::Bindings> shapes = draw_middle_shapes(softmax, 14, kElements, kFlops, keys);
    ASSERT_EQ(shapes.size(), 14u);
    for (const char* name : {"M", "N"}) {
      EXPECT_GE(std::ranges::count_if(shapes, [&](const core::Bindings& axes) { return axes.at(name) >= 1024; }), 7);
    }
    for (const core::Bindings& axes : shapes) {
      EXPECT_LE(axes.at("M") * axes.at("N"), kElements);
      octaves.insert(static_cast<int64_t>(std::log2(axes.at("N"))));
    }
  }
  EXPECT_TRUE(std::ranges::includes(octaves, std::set<int64_t>{10, 11, 12, 13, 14, 15}));
}

TEST(Shapes, SquaresAreSquaresWhereTheLimitsAllow) {
  statistics::Keys keys(9);
  std::set<int64_t> sides;
  for (int i = 0; i < 100; ++i) {
    const auto squares = draw_square_shape(shipped_problem("gemm_f32"), 1 << 20, int64_t{1} << 27, keys);
    ASSERT_EQ(squares.size(), 1u);
    EXPECT_EQ(sizes_of_k(squares).size(), 1u);
    sides.insert(squares[0].at("K"));
    EXPECT_EQ(squares[0].at("M"), squares[0].at("N"));
    EXPECT_EQ(squares[0].at("M"), squares[0].at("K"));
  }
  EXPECT_EQ(sides, (std::set<int64_t>{256, 320, 384}));
  EXPECT_TRUE(draw_square_shape(shipped_problem("gemm_f32"), 1 << 20, 1 << 20, keys).empty());
  EXPECT_TRUE(draw_square_shape(shipped_problem("sum_f32"), 1 << 20, 1 << 20, keys).empty());
}

TEST(Shapes, SegmentsMayBeEquallyLong) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    statistics::Keys keys(seed);
    const auto shapes = draw_shapes_of_even_segments(shipped_problem("segmented_sum_f32"), 1 << 20, 8'000'000, keys);
    ASSERT_EQ(shapes.size(), 2u);
    for (const core::Bindings& axes : shapes) {
      EXPECT_EQ(axes.at("T") % axes.at("S"), 0);
      EXPECT_EQ(axes.at("T") / axes.at("S") % 2, 1);
    }
    EXPECT_GE(shapes[0].at("T") / shapes[0].at("S"), 33);
    EXPECT_GE(shapes[1].at("S"), 24);
  }
  statistics::Keys keys(1);
  EXPECT_TRUE(draw_shapes_of_even_segments(shipped_problem("gemm_f32"), 1 << 20, 8'000'000, keys).empty());
}

TEST(Shapes, FarOnesEndTheDomainAndPass32Bits) {
  statistics::Keys keys(4);
  const benchsuite::Problem rows = shipped_problem("row_sum_f32");
  constexpr int64_t kSmall = int64_t{1} << 24, kLarge = int64_t{9} << 28, kManyFlops = int64_t{1} << 40;
  const auto small = far_shapes(rows, kSmall, kManyFlops, kManyFlops / 4, keys);
  ASSERT_EQ(small.size(), 6u);
  for (const size_t i : {0, 1, 2, 3}) {  // the maximum of each axis, and a size with a tail
    const int64_t large = std::max(small[i].at("M"), small[i].at("N"));
    EXPECT_LE(std::min(small[i].at("M"), small[i].at("N")), 3);
    EXPECT_TRUE(i % 2 == 0 ? large == 65536 : large > 32768 && large % 2 == 1) << large;
  }
  const core::Bindings& balanced = small[4];
  EXPECT_GT(balanced.at("M") * balanced.at("N"), kSmall * 15 / 16);
  EXPECT_GT(std::min(balanced.at("M"), balanced.at("N")), 64);
  EXPECT_EQ(balanced.at("M") % 2 + balanced.at("N") % 2, 2);
  EXPECT_EQ(small[5].at("M") % 64 + small[5].at("N") % 64, 0);  // and one of whole tiles
  EXPECT_GT(std::min(small[5].at("M"), small[5].at("N")), 63);
  const auto large = far_shapes(rows, kLarge, kManyFlops, kManyFlops / 4, keys);
  ASSERT_EQ(large.size(), 7u);
  const int64_t elements = large[6].at("M") * large[6].at("N");
  EXPECT_GT(elements, int64_t{1} << 31);
  EXPECT_LE(elements, kLarge);
  const auto products = far_shapes(shipped_problem("gemm_f32"), kSmall, kManyFlops, kManyFlops / 4, keys);
  ASSERT_EQ(products.size(), 8u);  // K and N are inner axes
  int64_t small_axes = 0;
  for (const auto& [name, size] : products[7]) small_axes += size <= 3;
  EXPECT_EQ(small_axes, 1);
  for (const core::Bindings& axes : far_shapes(shipped_problem("sum_f32"), kSmall, kManyFlops, kManyFlops / 4, keys)) {
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
  const auto near = draw_long_shapes(shipped_problem("gemm_f32"), "cpu", 1 << 18, 1 << 20, keys, 8);
  ASSERT_EQ(near.size(), 3u);
  for (const core::Bindings& axes : near) {
    const int64_t most = std::max({axes.at("K"), axes.at("M"), axes.at("N")});
    EXPECT_GT(most, 128);
    EXPECT_LE(most, 8 * 128);
  }
}

TEST(Shapes, LongOnesAreWide) {
  statistics::Keys keys(8);
  const benchsuite::Problem rows = shipped_problem("row_sum_f32"), products = shipped_problem("gemm_f32");
  int64_t most_rows = 0, longest_row = 0, whole_tiles = 0;
  for (int i = 0; i < 40; ++i) {
    const auto shapes = draw_long_and_wide_shapes(rows, "cpu", 1 << 20, int64_t{1} << 25, keys);
    ASSERT_LE(shapes.size(), 2u);
    for (const core::Bindings& axes : shapes) {
      EXPECT_GE(std::min(axes.at("M"), axes.at("N")), 48);
      EXPECT_LE(axes.at("M") * axes.at("N"), 1 << 20);
      most_rows = std::max(most_rows, axes.at("M"));
      longest_row = std::max(longest_row, axes.at("N"));
      whole_tiles += axes.at("M") % 64 == 0 && axes.at("N") % 64 == 0;
    }
    for (const core::Bindings& axes : draw_long_and_wide_shapes(products, "cpu", 1 << 20, int64_t{1} << 25, keys)) {
      EXPECT_GE(std::min({axes.at("M"), axes.at("N"), axes.at("K")}), 8);
      EXPECT_GT(std::max({axes.at("M"), axes.at("N"), axes.at("K")}), 128);
    }
  }
  EXPECT_GT(whole_tiles, 20);
  EXPECT_LT(whole_tiles, 60);
  EXPECT_GT(most_rows, 8192);
  EXPECT_GT(longest_row, 8192);
  EXPECT_TRUE(draw_long_and_wide_shapes(shipped_problem("sum_f32"), "cpu", 1 << 20, 1 << 25, keys).empty());
}

}  // namespace
}  // namespace verifier::draws
