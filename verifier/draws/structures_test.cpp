// Inputs whose rows have a structure: verifier/formulas/structures.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "verifier/draws/elements.h"
#include "verifier/draws/inputs.h"

namespace verifier::draws {
namespace {
using benchsuite::Init;
using benchsuite::Tensor;
using core::DType;
using core::Expr;

struct Structured : testing::Test {
  static Tensor of(DType dtype, Init kind) {
    Tensor made{"x", dtype, {Expr::parse("M"), Expr::parse("N")}, {}};
    made.init.kind = kind;
    made.init.low = -2;
    made.init.high = 3;
    made.init.least = Expr::constant(0);
    made.init.most = Expr::parse("4 * N");
    return made;
  }
  static std::vector<std::vector<double>> rows_of(const Tensor& tensor, const core::Bindings& axes,
                                                  Distribution distribution, uint64_t key) {
    std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes(axes)));
    fill_input(bytes, tensor, axes, distribution, key);
    const std::vector<double> all = load_elements(tensor.dtype, bytes);
    std::vector<std::vector<double>> rows;
    const auto columns = tensor.shape.back().eval(axes);
    for (auto at = all.begin(); at != all.end(); at += columns) rows.emplace_back(at, at + columns);
    return rows;
  }
  template <typename Check>
  static void for_each_row(DType dtype, Init kind, const Check& check) {
    for (const int64_t columns : {1, 2, 3, 7, 64, 1000}) {
      for (const Distribution distribution :
           {Distribution::ordinary, Distribution::patchwork, Distribution::ties, Distribution::row_scales}) {
        const core::Bindings axes{{"M", 40}, {"N", columns}};
        for (const auto& row : rows_of(of(dtype, kind), axes, distribution, 7)) check(row);
      }
    }
  }
};

TEST_F(Structured, APermutationHoldsEachNumberOnce) {
  for (const DType dtype : {DType::i32, DType::f32, DType::i64}) {
    for_each_row(dtype, Init::permutation, [](std::vector<double> row) {
      std::sort(row.begin(), row.end());
      for (size_t i = 0; i < row.size(); ++i) ASSERT_EQ(row[i], static_cast<double>(i));
    });
  }
}

TEST_F(Structured, PermutationsDifferFromRowToRowAndWithTheKey) {
  const core::Bindings axes{{"M", 400}, {"N", 100}};
  std::set<std::vector<double>> seen;
  int ascending = 0, descending = 0;
  for (const uint64_t key : {1, 2}) {
    for (const auto& row : rows_of(of(DType::i32, Init::permutation), axes, Distribution::ordinary, key)) {
      ascending += std::is_sorted(row.begin(), row.end());
      descending += std::is_sorted(row.rbegin(), row.rend());
      seen.insert(row);
    }
  }
  EXPECT_GT(seen.size(), 500u);
  EXPECT_NEAR(ascending, 100, 40);
  EXPECT_NEAR(descending, 100, 40);
}

TEST_F(Structured, EachPlaceOfAShuffledRowTakesEachNumber) {
  const core::Bindings axes{{"M", 20000}, {"N", 5}};
  std::vector<std::vector<int>> counts(5, std::vector<int>(5));
  for (const auto& row : rows_of(of(DType::i32, Init::permutation), axes, Distribution::ordinary, 3)) {
    for (size_t i = 0; i < 5; ++i) ++counts[i][static_cast<size_t>(row[i])];
  }
  for (size_t i = 0; i < 5; ++i) {
    for (size_t j = 0; j < 5; ++j) {
      // Of 2500 rows with two places exchanged, 1700 keep a number in its place.
      const double ordered = (i == j ? 2500 + 1700 : 200) + (i + j == 4 ? 2500 : 0), turned = 500, shuffled = 2000;
      EXPECT_NEAR(counts[i][j], ordered + turned + shuffled, 600) << i << " " << j;
    }
  }
}

TEST_F(Structured, SortedRowsAscendWithinTheirBounds) {
  for_each_row(DType::f32, Init::sorted, [](const std::vector<double>& row) {
    ASSERT_TRUE(std::is_sorted(row.begin(), row.end()));
    ASSERT_GE(row.front(), -2);
    ASSERT_LE(row.back(), 3);
  });
  for_each_row(DType::i32, Init::sorted, [](const std::vector<double>& row) {
    ASSERT_TRUE(std::is_sorted(row.begin(), row.end()));
    ASSERT_EQ(row.front(), 0);
    if (row.size() > 1) {
      ASSERT_EQ(row.back(), 4.0 * static_cast<double>(row.size()));
    }
  });
}

TEST_F(Structured, SomeSortedRowsJumpAndSomeHaveSteps) {
  const core::Bindings axes{{"M", 200}, {"N", 100}};
  int jumps = 0, steps = 0;
  for (const auto& row : rows_of(of(DType::i32, Init::sorted), axes, Distribution::ordinary, 5)) {
    double most = 0;
    for (size_t i = 1; i < row.size(); ++i) most = std::max(most, row[i] - row[i - 1]);
    jumps += most > 300;  // of 400
    steps += std::set<double>(row.begin(), row.end()).size() < 50;
  }
  EXPECT_NEAR(jumps, 50, 25);  // one in eight as such, and as many with neighbours at the end
  EXPECT_GT(steps, 25);
}

// The judge refused honest kernels for offsets that did not ascend: steps of 1 to 7 with up to 8 added to each.
TEST_F(Structured, NamedSortedRowsAscendForSmallNumbers) {
  const Tensor tensor = of(DType::i32, Init::sorted);
  const core::Bindings axes{{"M", 1}, {"N", 300}};
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes(axes)));
  for (const double number : {1, 2, 3, 5, 7, 8, 9}) {
    for (uint64_t key = 0; key < 20; ++key) {
      fill_input(bytes, tensor, axes, Distribution::named, key, number);
      const std::vector<double> row = load_elements(DType::i32, bytes);
      ASSERT_TRUE(std::is_sorted(row.begin(), row.end())) << number;
    }
  }
}

// Segments of about a length that the source names.
TEST_F(Structured, NamedSortedRowsHaveStepsOfTheNumber) {
  const Tensor tensor = of(DType::i32, Init::sorted);
  const core::Bindings axes{{"M", 1}, {"N", 1000}};
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes(axes)));
  fill_input(bytes, tensor, axes, Distribution::named, 3, 120);
  const std::vector<double> row = load_elements(DType::i32, bytes);
  EXPECT_TRUE(std::is_sorted(row.begin(), row.end()));
  for (size_t i = 1; i < 20; ++i) {
    EXPECT_GT(row[i] - row[i - 1], 110);
    EXPECT_LT(row[i] - row[i - 1], 160);
  }
  EXPECT_EQ(row.back(), 4000);
}

// Lengths of whole chunks, where a kernel forgets the last one.
TEST_F(Structured, NamedIntegersAreMultiplesOfTheNumber) {
  const Tensor tensor = of(DType::i32, Init::integers);
  const core::Bindings axes{{"M", 1}, {"N", 1000}};
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes(axes)));
  for (const uint64_t all : {0, 1}) {
    fill_input(bytes, tensor, axes, Distribution::named, all << 61 | 5, 24);
    int multiples = 0, next_to_them = 0;
    for (const double value : load_elements(DType::i32, bytes)) {
      const auto rest = static_cast<int64_t>(value) % 24;
      multiples += value > 24 && rest == 0;
      next_to_them += rest == 1 || rest == 23;
    }
    EXPECT_NEAR(multiples, all == 1 ? 360 : 120, 60);
    EXPECT_NEAR(next_to_them, all == 1 ? 460 : 170, 80);
  }
}

TEST_F(Structured, ProbabilitiesAddUpToOne) {
  int certain = 0, equal = 0;
  for_each_row(DType::f32, Init::probabilities, [&](const std::vector<double>& row) {
    ASSERT_GE(*std::min_element(row.begin(), row.end()), 0);
    ASSERT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-5);
    certain += row.size() == 1000 && *std::max_element(row.begin(), row.end()) == 1;
    const double most = *std::max_element(row.begin(), row.end());
    const auto of_it = std::count(row.begin(), row.end(), most);
    equal += row.size() == 1000 && of_it > 1 && of_it <= 20 && most * static_cast<double>(of_it) > 0.7;
  });
  EXPECT_NEAR(certain, 20, 15);
  EXPECT_NEAR(equal, 20, 15);
}

TEST_F(Structured, ATriangularMatrixIsZeroOnOneSideOfItsDiagonal) {
  for (const Init kind : {Init::triangular, Init::upper_triangular}) {
    Tensor batch = of(DType::f32, kind);
    batch.shape.insert(batch.shape.begin(), Expr::constant(3));
    const core::Bindings axes{{"M", 30}, {"N", 20}};
    for (const Distribution distribution :
         {Distribution::ordinary, Distribution::patchwork, Distribution::offset, Distribution::non_finite}) {
      for (uint64_t key = 0; key < 8; ++key) {
        const auto rows = rows_of(batch, axes, distribution, key);
        int nonzero = 0;
        for (size_t r = 0; r < rows.size(); ++r) {
          for (size_t c = 0; c < 20; ++c) {
            if (kind == Init::triangular ? c > r % 30 : c < r % 30) {
              ASSERT_EQ(rows[r][c], 0) << r << " " << c;
            } else {
              nonzero += rows[r][c] != 0;
            }
          }
        }
        EXPECT_GT(nonzero, kind == Init::triangular ? 600 : 300);
      }
    }
  }
}

}  // namespace
}  // namespace verifier::draws
