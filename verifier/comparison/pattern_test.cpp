#include "verifier/comparison/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/dtype.h"
#include "verifier/comparison/compare.h"
#include "verifier/statistics/random.h"

namespace verifier::comparison {
namespace {
using testing::HasSubstr;

// A right matrix, and a copy to spoil.
struct Matrix {
  Matrix(int64_t height_, int64_t columns_, uint64_t key = 7) : height(height_), columns(columns_) {
    statistics::Stream stream(key);
    for (int64_t i = 0; i < height * columns; ++i) right.push_back(stream.normal());
    got = right;
  }
  double& at(int64_t row, int64_t column) { return got[static_cast<size_t>(row * columns + column)]; }
  double right_at(int64_t row, int64_t column) const { return right[static_cast<size_t>(row * columns + column)]; }
  template <typename Inside>
  void garble(Inside inside) {
    statistics::Stream stream(99);
    for (int64_t i = 0; i < height; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const double other = 3 * stream.normal();
        if (inside(i, j)) at(i, j) = other;
      }
    }
  }
  std::optional<verdicts::Pattern> pattern(std::vector<int64_t> shape = {}) const {
    if (shape.empty()) shape = {height, columns};
    const auto at = [](int64_t i) { return static_cast<size_t>(i); };
    return find_pattern({std::move(shape), 0, [&](int64_t i) { return got[at(i)]; },
                         [&](int64_t i) { return right[at(i)]; },
                         [&](int64_t i) { return std::fabs(got[at(i)] - right[at(i)]) > 1e-5; }});
  }
  void expect(verdicts::PatternKind kind, const std::string& words, std::vector<int64_t> shape = {}) const {
    const std::optional<verdicts::Pattern> found = pattern(std::move(shape));
    ASSERT_TRUE(found.has_value()) << name_of(kind);
    EXPECT_EQ(name_of(found->kind), name_of(kind)) << found->sentence;
    EXPECT_THAT(found->sentence, HasSubstr(words));
    EXPECT_EQ(found->sentence.back(), '.');
    EXPECT_LT(found->sentence.size(), 700u);
  }

  int64_t height, columns;
  std::vector<double> right, got;
};

TEST(Pattern, NamesAreOneEach) {
  for (int i = 0; i <= static_cast<int>(verdicts::PatternKind::scattered); ++i) {
    const auto kind = static_cast<verdicts::PatternKind>(i);
    EXPECT_EQ(core::enum_from_name<verdicts::PatternKind>(name_of(kind)), kind);
  }
  EXPECT_EQ(core::enum_from_name<verdicts::PatternKind>("spiral"), std::nullopt);
}

TEST(Pattern, Tails) {
  Matrix columns(40, 1023);
  columns.garble([](int64_t, int64_t j) { return j >= 992; });
  columns.expect(verdicts::PatternKind::tail, "the last 31 of 1023 columns, past the last multiple of 32");
  Matrix column(40, 64);
  column.garble([](int64_t, int64_t j) { return j == 63; });
  column.expect(verdicts::PatternKind::tail, "the last column");
  Matrix row(33, 64);
  row.garble([](int64_t i, int64_t) { return i == 32; });
  row.expect(verdicts::PatternKind::tail, "the last row");
  Matrix rows(100, 64);
  rows.garble([](int64_t i, int64_t) { return i >= 64; });
  rows.expect(verdicts::PatternKind::tail, "the last 36 of 100 rows, past the last multiple of 64");
  Matrix edges(100, 200);
  edges.garble([](int64_t i, int64_t j) { return i >= 96 || j >= 192; });
  edges.expect(verdicts::PatternKind::tail, "past the last multiple of 32 in rows or columns");
  Matrix flat(1, 1000);
  flat.garble([](int64_t, int64_t j) { return j >= 768; });
  flat.expect(verdicts::PatternKind::tail, "the last 232 of 1000 elements, past the last multiple of 256", {1000});
  Matrix batches(3 * 20, 16);  // the last row of each matrix
  batches.garble([](int64_t i, int64_t) { return i % 20 == 19; });
  batches.expect(verdicts::PatternKind::tail, "the last row", {3, 20, 16});
}

TEST(Pattern, WholeRowsAndColumns) {
  Matrix rows(64, 96);
  rows.garble([](int64_t i, int64_t) { return i % 8 == 3; });
  rows.expect(verdicts::PatternKind::rows, "rows 3, 11, ... 59, every 8 rows (8 of 64 rows)");
  Matrix block(128, 96);
  block.garble([](int64_t i, int64_t) { return i >= 32 && i < 64; });
  block.expect(verdicts::PatternKind::rows, "rows 32 to 63");
  Matrix columns(64, 96);
  columns.garble([](int64_t, int64_t j) { return j == 5 || j == 6 || j == 20; });
  columns.expect(verdicts::PatternKind::columns, "columns 5, 6, 20");
}

TEST(Pattern, RowsThatAreWrongInPart) {
  Matrix matrix(40, 64);
  statistics::Stream stream(8);
  for (int64_t i = 1; i < 40; i += 4) {
    for (int64_t j = 0; j < 64; ++j) {
      if (stream.normal() < 0) matrix.at(i, j) *= 1.0005;
    }
  }
  matrix.expect(verdicts::PatternKind::rows,
                "Only some rows differ, in many of their elements, and the others are right: rows 1, 5");
  matrix.expect(verdicts::PatternKind::rows, "The errors are small");
  EXPECT_THAT(matrix.pattern()->sentence, testing::Not(HasSubstr("precision")));
}

TEST(Pattern, WholeTiles) {
  Matrix tiles(128, 160);
  tiles.garble([](int64_t i, int64_t j) { return (i / 32 + j / 32) % 3 == 1; });
  tiles.expect(verdicts::PatternKind::tiles, "32x32");
  Matrix one(256, 256);
  one.garble([](int64_t i, int64_t j) { return i / 64 == 1 && j / 64 == 2; });
  one.expect(verdicts::PatternKind::tiles, "64x64 differ and the others are right (1 of 16 tiles)");
  Matrix blocks(1, 4096);
  blocks.garble([](int64_t, int64_t j) { return j / 128 % 5 == 2; });
  blocks.expect(verdicts::PatternKind::tiles, "blocks of 128 elements", {4096});
}

TEST(Pattern, Transposed) {
  Matrix square(48, 48);
  for (int64_t i = 0; i < 48; ++i) {
    for (int64_t j = 0; j < 48; ++j) square.at(i, j) = square.right_at(j, i);
  }
  square.expect(verdicts::PatternKind::transposed, "transposed");
  Matrix oblong(24, 40);  // written as 40 x 24
  for (int64_t i = 0; i < 24; ++i) {
    for (int64_t j = 0; j < 40; ++j) oblong.got[static_cast<size_t>(j * 24 + i)] = oblong.right_at(i, j);
  }
  oblong.expect(verdicts::PatternKind::transposed, "transposed");
}

TEST(Pattern, Shifted) {
  for (const int64_t shift : {1, -1, 60, -60, 240}) {
    Matrix matrix(50, 60);
    const auto total = static_cast<int64_t>(matrix.got.size());
    for (int64_t i = 0; i < total; ++i) {
      matrix.got[static_cast<size_t>(i)] = matrix.right[static_cast<size_t>((i + shift + total) % total)];
    }
    const std::string words = std::abs(shift) == 1    ? "belongs 1 element"
                              : std::abs(shift) == 60 ? "belongs 1 row"
                                                      : "belongs 4 rows";
    matrix.expect(verdicts::PatternKind::shifted, words + (shift > 0 ? " further on" : " before"));
  }
}

TEST(Pattern, Scaled) {
  for (const auto& [factor, words] : {std::pair(0.125, "1/8 of what is right"), std::pair(2.0, "2 times what is right"),
                                      std::pair(-1.0, "the sign"), std::pair(0.7, "0.7 times")}) {
    Matrix matrix(30, 50);
    for (double& value : matrix.got) value *= factor;
    matrix.expect(verdicts::PatternKind::scaled, words);
  }
}

TEST(Pattern, LostTerms) {
  // Sums over K=64 of terms of both signs; the last 16 are left out. And sums of squares.
  for (const bool positive : {false, true}) {
    Matrix matrix(32, 48);
    statistics::Stream stream(5);
    for (size_t i = 0; i < matrix.got.size(); ++i) {
      matrix.right[i] = matrix.got[i] = 0;
      for (int k = 0; k < 64; ++k) {
        const double value = stream.normal(), term = positive ? std::fabs(value) : value;
        matrix.right[i] += term;
        if (k < 48) matrix.got[i] += term;
      }
    }
    matrix.expect(verdicts::PatternKind::lost_terms, "of its terms");
    const std::string sentence = matrix.pattern()->sentence;
    const double share = std::stod(sentence.substr(sentence.find("about ") + 6));
    EXPECT_NEAR(share, 75, 4);
  }
}

TEST(Pattern, Zeros) {
  Matrix all(20, 30);
  for (double& value : all.got) value = 0;
  all.expect(verdicts::PatternKind::zeros, "zero");
  Matrix rows(20, 30);  // where counts more; what they are is said, too
  for (int64_t j = 0; j < 30; ++j) rows.at(4, j) = 0;
  rows.expect(verdicts::PatternKind::rows, "row 4");
  rows.expect(verdicts::PatternKind::rows, "The wrong elements are zero");
}

TEST(Pattern, Imprecise) {
  Matrix matrix(64, 64);
  statistics::Stream stream(3);
  for (double& value : matrix.got) value *= 1 + 1e-3 * stream.normal();
  matrix.expect(verdicts::PatternKind::imprecise, "precision");
  Matrix below(64, 64);  // no element is wrong by itself
  for (double& value : below.got) value *= 1 + 1e-7 * stream.normal();
  below.expect(verdicts::PatternKind::imprecise, "precision");
}

TEST(Pattern, Scattered) {
  Matrix matrix(64, 64);
  statistics::Stream stream(3);
  for (double& value : matrix.got) {
    const double other = 2 * stream.normal();
    if (stream.normal() > 1.8) value = other;
  }
  matrix.expect(verdicts::PatternKind::scattered, "race");
}

TEST(Pattern, NothingIsMadeUp) {
  Matrix garbage(64, 64), same(8, 8), one(64, 64), empty(0, 8), tiny(1, 1);
  garbage.garble([](int64_t, int64_t) { return true; });
  one.at(20, 20) = 9;
  tiny.got[0] = 5;
  for (const Matrix* matrix : {&garbage, &same, &one, &empty, &tiny}) EXPECT_EQ(matrix->pattern(), std::nullopt);
}

TEST(Pattern, LargeOutputsAreSampled) {
  int64_t calls = 0;
  const int64_t side = 20000;
  const auto pattern =
      find_pattern({{side, side},
                    9000 * side,
                    [&](int64_t i) { return ++calls, i % side >= 19968 ? 0.0 : 1 + static_cast<double>(i % 7); },
                    [&](int64_t i) { return ++calls, 1 + static_cast<double>(i % 7); },
                    [&](int64_t i) { return i % side >= 19968; }});
  ASSERT_TRUE(pattern.has_value());
  EXPECT_EQ(pattern->kind, verdicts::PatternKind::tail);
  EXPECT_LT(calls, 3'000'000);
}

TEST(Pattern, ComparisonSaysIt) {
  std::vector<float> y(64 * 64, 1), naive = y;
  std::vector<double> r(y.size(), 1);
  for (size_t i = 0; i < y.size(); i += 64) y[i + 63] = 0;
  const auto bytes = [](const auto& values) { return std::as_bytes(std::span(values)); };
  Comparison comparison{core::DType::f32, core::DType::f32,         64, {},      false,
                        bytes(y),         {bytes(r), bytes(naive)}, {}, {64, 64}};
  for (const bool exact : {false, true}) {
    comparison.exact = exact;
    const auto result = compare(comparison, "y", {});
    const auto& wrong = std::get<verdicts::WrongResult>(std::get<verdicts::Verdict>(result));
    ASSERT_TRUE(wrong.pattern.has_value());
    EXPECT_EQ(wrong.pattern->kind, verdicts::PatternKind::tail);
    EXPECT_THAT(verdicts::sentence_for_people(wrong), HasSubstr("the last column"));
  }
  comparison.shape.clear();
  const auto without = compare(comparison, "y", {});
  EXPECT_EQ(std::get<verdicts::WrongResult>(std::get<verdicts::Verdict>(without)).pattern, std::nullopt);
}

}  // namespace
}  // namespace verifier::comparison
