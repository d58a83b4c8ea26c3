// Inputs whose rows differ, or in which rows and patches have content of their own.
#include <cmath>
#include <map>
#include <set>

#include "core/paths.h"
#include "verifier/draws/inputs_fixture.h"

namespace verifier::draws {
namespace {
TEST(Inputs, WholeNumbersOfSomeRowsLieInAWindow) {
  Tensor indices = tensor(DType::i32, Init::integers);
  const auto has_a_narrow_row = [&](uint64_t key) {
    const std::vector<double> values = drawn(indices, Distribution::patchwork, key);
    const auto columns = static_cast<size_t>(indices.shape.back().eval(kAxes));
    for (size_t row = 0; row + columns <= values.size(); row += columns) {
      const auto [least, most] = std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(row),
                                                     values.begin() + static_cast<std::ptrdiff_t>(row + columns));
      if (*most - *least < 1 << 15) return true;
    }
    return false;
  };
  int narrow = 0;
  for (uint64_t key = 0; key < 20; ++key) narrow += has_a_narrow_row(key);
  EXPECT_GT(narrow, 5);
}

TEST(Inputs, RegularIntegersHaveAnException) {
  const benchsuite::Problem problem =
      benchsuite::load_problem(core::installed_paths().problems() / "cross_entropy_f32");
  const auto targets = std::ranges::find(problem.inputs, "targets", &benchsuite::Tensor::name);
  ASSERT_NE(targets, problem.inputs.end());
  const core::Bindings axes{{"M", 16}, {"N", 1 << 20}};
  for (uint64_t key = 1; key < 20; ++key) {
    std::vector<std::byte> bytes(static_cast<size_t>(targets->bytes(axes)));
    fill_input(bytes, *targets, axes, Distribution::regular, key);
    std::map<double, int> counts;
    for (size_t i = 0; i < 16; ++i) ++counts[load_element(targets->dtype, bytes, i)];
    ASSERT_GE(counts.size(), 2u);
    ASSERT_LE(counts.size(), 4u);
    const auto rarest = std::ranges::min_element(counts, {}, [](const auto& counted) { return counted.second; });
    EXPECT_LE(rarest->second, 2);
  }
}

// Fewer than a thousand of the elements may tell patchwork from an ordinary draw.
TEST(Inputs, PatchworkLooksOrdinaryFromItsFirstElements) {
  int told = 0, patched = 0;
  for (uint64_t key = 0; key < 200; ++key) {
    const std::vector<double> ordinary = drawn(tensor(DType::f32), Distribution::ordinary, key);
    const std::vector<double> values = drawn(tensor(DType::f32), Distribution::patchwork, key);
    told += !std::equal(ordinary.begin(), ordinary.begin() + 64, values.begin());
    patched += ordinary != values;
  }
  EXPECT_EQ(patched, 200);
  EXPECT_LT(told, 80);  // a quarter has a coarser grain, in timed launches, too
}

TEST(Inputs, PatchesCoverAnEighthOrSo) {
  for (const DType dtype : kFloats) {
    double largest = 0;
    for (uint64_t key = 0; key < 100; ++key) {
      Tensor x = tensor(dtype);
      const formulas::FillArgs args = fill_args(x, kAxes, Distribution::patchwork, key);
      ASSERT_LE(args.patch_count, formulas::kMostPatches);
      int64_t covered = 0;
      for (int64_t p = 0; p < args.patch_count; ++p) covered += args.patches[p].elements();
      EXPECT_LT(covered, 64000 / 3);
      for (const double v : drawn(x, Distribution::patchwork, key)) {
        ASSERT_TRUE(std::isfinite(v));
        largest = std::max(largest, std::fabs(v));
      }
    }
    EXPECT_GT(largest, std::sqrt(largest_of(dtype)));
  }
}

// A dropped bit of either operand shows in a product of theirs, which f32 holds.
TEST(Inputs, ExactProductsHaveAllBitsInOneInputAndOneInTheOther) {
  for (uint64_t draw_key = 1; draw_key < 5; ++draw_key) {
    statistics::Keys keys(draw_key);
    std::set<bool> full;
    for (size_t input = 0; input < 2; ++input) {
      const uint64_t key = tensor_key(keys, draw_key, Distribution::exact_products, input, 2);
      const auto values = drawn(tensor(DType::f32), Distribution::exact_products, key);
      double largest = 0;
      for (const double v : values) largest = std::max(largest, std::fabs(v));
      full.insert(largest > 1 << 20);
      for (const double v : values) {
        if (v == 0) continue;
        int exponent = 0;
        const bool power_of_two = std::fabs(std::frexp(v, &exponent)) == 0.5, odd = std::fmod(std::fabs(v), 2) == 1;
        EXPECT_TRUE(largest > 8 ? odd : power_of_two) << v;
      }
    }
    EXPECT_EQ(full.size(), 2u);
  }
}

TEST(Inputs, OneElementOfEachRowDominates) {
  const std::vector<double> values = drawn(tensor(DType::f32), Distribution::dominant);
  int dominated = 0;
  for (size_t row = 0; row < 64; ++row) dominated += rms(values, row * 1000, (row + 1) * 1000) > 0x1p20;
  EXPECT_GT(dominated, 62);
  EXPECT_GT(values[63999], 0x1p20);   // the end of the last row decides about a maximum
  EXPECT_LT(values[62999], -0x1p20);  // and of the row before it about a minimum
}

TEST(Inputs, RowsOfExtremesAreFarFromZeroOrHaveLargeOutliers) {
  Tensor x = tensor(DType::f32);
  int far = 0, negative = 0, huge = 0, outliers_at_the_end = 0;
  constexpr int kDraws = 16;
  for (uint64_t key = 1; key <= kDraws; ++key) {
    const std::vector<double> values = drawn(x, Distribution::extremes, key);
    huge += std::fabs(values.back()) > 1e30;
    float sum = 0;  // whatever is added in whatever order
    for (const double v : values) sum += static_cast<float>(4 * std::fabs(v));
    ASSERT_TRUE(std::isfinite(sum));
    for (size_t row = 0; row < 64; ++row) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * 1000);
      const auto [least, most] = std::minmax_element(begin, begin + 1000);
      ASSERT_TRUE(std::isfinite(*least) && std::isfinite(*most));
      far += *most < 0 || *least > 0;
      negative += *most < 0;
      outliers_at_the_end += *least < 0 && *most > 0 && (begin[999] == *most || begin[999] == *least);
    }
  }
  EXPECT_NEAR(far, kDraws * 32, kDraws * 5);
  EXPECT_NEAR(negative, kDraws * 24, kDraws * 5);
  EXPECT_GE(huge, kDraws / 8);
  EXPECT_GT(outliers_at_the_end, kDraws * 8);
  x.init.largest = 1e6;
  for (const double v : drawn(x, Distribution::extremes)) ASSERT_LE(std::fabs(v), 1e6);
  for (const double v : drawn(tensor(DType::f16), Distribution::extremes)) ASSERT_LE(std::fabs(v), 65504);
}

TEST(Inputs, RegularContentHasAFewExceptions) {
  using formulas::Regular;
  constexpr int64_t kSide = 256;
  const core::Bindings axes{{"M", kSide}, {"N", kSide}};
  const auto exceptions_to = [&](Regular kind, const auto& expected, uint64_t key = 7) {
    std::vector<std::byte> bytes(kSide * kSide * sizeof(float));
    fill_input(bytes, tensor(DType::f32), axes, Distribution::regular, with_kind(key, static_cast<unsigned>(kind)));
    const std::vector<double> values = load_elements(DType::f32, bytes);
    std::set<size_t> rows;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != expected(values, i / kSide, i % kSide)) rows.insert(i / kSide);
    }
    return rows.size();
  };
  using Values = std::vector<double>;
  EXPECT_EQ(exceptions_to(Regular::constant_rows,
                          [](const Values& v, size_t row, size_t) {
                            const double* begin = v.data() + row * kSide;
                            return begin[0] == begin[1] || begin[0] == begin[2] ? begin[0] : begin[1];
                          }),
            kSide);
  const auto equal = exceptions_to(Regular::equal_rows, [](const Values& v, size_t row, size_t column) {
    const double a = v[(row + 1) % kSide * kSide + column], b = v[(row + 2) % kSide * kSide + column];
    return a == b ? a : v[row * kSide + column];
  });
  EXPECT_GE(equal, 1u);
  EXPECT_LE(equal, 16u);
  const auto is_one = [](const Values&, size_t row, size_t column) { return row == column ? 1.0 : 0.0; };
  size_t of_all = 0;
  for (uint64_t key = 1; key <= 20; ++key) {
    const auto identity = exceptions_to(Regular::identity, is_one, key);
    EXPECT_GE(identity, 1u);
    of_all += identity;
  }
  EXPECT_LE(of_all, 20u * 8);
  const auto symmetric = exceptions_to(
      Regular::symmetric, [](const Values& v, size_t row, size_t column) { return v[column * kSide + row]; });
  EXPECT_GE(symmetric, 2u);
  EXPECT_LE(symmetric, 32u);
}

TEST(Inputs, OrderedRowsAreInEachOrder) {
  int rising = 0, falling = 0, pipes = 0, mirrored = 0, woven = 0, repeated = 0, wrong_ranks = 0;
  const auto rises_in_steps_of = [](const std::vector<double>& row, size_t step) {
    for (size_t i = step; i < row.size(); ++i) {
      if (row[i] <= row[i - step]) return false;
    }
    return true;
  };
  for (const uint64_t key : {1, 2, 3}) {
    const std::vector<double> values = drawn(tensor(DType::f32), Distribution::ordered, with_kind(key, 0));
    for (size_t r = 0; r < 64; ++r) {
      const std::vector<double> row(values.begin() + static_cast<std::ptrdiff_t>(r * 1000),
                                    values.begin() + static_cast<std::ptrdiff_t>((r + 1) * 1000));
      rising += std::is_sorted(row.begin(), row.end());
      falling += std::is_sorted(row.rbegin(), row.rend());
      pipes += std::is_sorted(row.begin(), row.begin() + 500) && std::is_sorted(row.rbegin(), row.rbegin() + 500);
      mirrored += std::equal(row.begin(), row.begin() + 500, row.rbegin());
      size_t step = 1;
      while (step <= 64 && !rises_in_steps_of(row, step)) ++step;
      woven += step > 1 && step <= 64;
      const std::set<double> distinct(row.begin(), row.end());
      repeated += distinct.size() <= 502;
      const size_t without_ties = r % 4 == 0 ? 624 : 999;  // zeros are one number
      wrong_ranks += distinct.size() > 502 && distinct.size() < without_ties;
      EXPECT_GE(*distinct.begin(), -1.5);
      EXPECT_LE(*distinct.rbegin(), 2.5);
    }
  }
  EXPECT_EQ(wrong_ranks, 0);  // of the orders that only move places
  for (const int count : {rising, falling, pipes, mirrored, woven}) EXPECT_NEAR(count, 11, 9);
  EXPECT_EQ(repeated, 42);
}

TEST(Inputs, NamedRowsLieAboutTheNumber) {
  for (const auto& of : {std::pair(DType::f32, -1e38), {DType::f32, -16.6}, {DType::f16, 20.0}}) {
    const DType dtype = of.first;
    const double number = of.second;
    const Tensor x = tensor(dtype);
    std::vector<std::byte> bytes(static_cast<size_t>(x.bytes(kAxes)));
    fill_input(bytes, x, kAxes, Distribution::named, with_kind(7, 0), number);
    const std::vector<double> values = load_elements(dtype, bytes);
    std::vector<int> whole(4);  // rows in which more than half of the elements have the number's size
    for (size_t r = 0; r < 64; ++r) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(r * 1000);
      const auto near = std::count_if(begin, begin + 1000, [&](double v) {
        return std::fabs(v) > 0.5 * std::fabs(number) && std::fabs(v) < 2.1 * std::fabs(number);
      });
      whole[r % 4] += near > 500;
      EXPECT_GT(near, 0) << r;
    }
    EXPECT_EQ(whole, (std::vector<int>{16, 16, 16, 0})) << number;
    EXPECT_TRUE(std::ranges::all_of(values, [](double v) { return std::isfinite(v); }));
  }
  Tensor bounded = tensor(DType::f32);
  bounded.init.largest = 1000;
  std::vector<std::byte> bytes(static_cast<size_t>(bounded.bytes(kAxes)));
  fill_input(bytes, bounded, kAxes, Distribution::named, 1, 1e30);
  EXPECT_TRUE(std::ranges::all_of(load_elements(DType::f32, bytes), [](double v) { return std::fabs(v) <= 1000; }));
}

TEST(Inputs, EachKindOfNonFiniteRowAppears) {
  const std::vector<double> values = drawn(tensor(DType::f32), Distribution::non_finite);
  int only_infinite = 0, with_nan = 0;
  for (size_t row = 0; row < 64; ++row) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * 1000);
    const bool nan = std::any_of(begin, begin + 1000, [](double v) { return std::isnan(v); });
    with_nan += nan;
    only_infinite += !nan && std::any_of(begin, begin + 1000, [](double v) { return std::isinf(v); });
  }
  EXPECT_GT(only_infinite, 10);
  EXPECT_GT(with_nan, 10);
}

}  // namespace
}  // namespace verifier::draws
