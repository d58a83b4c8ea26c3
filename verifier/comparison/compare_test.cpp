#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "verifier/comparison/compare_fixture.h"
#include "verifier/draws/inputs.h"
#include "verifier/statistics/random.h"

namespace verifier::comparison {
namespace {
using test::ComparisonCase;
using test::Doubles;
using test::DType;
using test::Floats;
using test::judged;
using test::name_of;
using test::normal;
using test::plain;
using test::stored;
using test::tf32;

// c[m, n] = sum_k a[m, k] b[k, n], N(0,1).
struct Gemm {
  static constexpr size_t kM = 48, kN = 64, kK = 512;
  Floats a = normal(kM * kK, 1), b = normal(kK * kN, 2);
  ComparisonCase form{DType::f32, kN, {}, false};

  Doubles reference() const {
    Doubles c(kM * kN);
    for (size_t m = 0; m < kM; ++m) {
      for (size_t k = 0; k < kK; ++k) {
        for (size_t n = 0; n < kN; ++n) c[m * kN + n] += double{a[m * kK + k]} * double{b[k * kN + n]};
      }
    }
    return c;
  }
  // The sum over k in `parts` parts, the k with k % skip_of == 0 left out when skip_of > 0.
  Floats product(size_t parts = 1, const std::function<float(float)>& round = plain, size_t skip_of = 0) const {
    Floats c(kM * kN);
    const size_t length = kK / parts;
    for (size_t part = 0; part < parts; ++part) {
      Floats partial(kM * kN);
      for (size_t m = 0; m < kM; ++m) {
        for (size_t k = part * length; k < (part + 1) * length; ++k) {
          if (skip_of > 0 && k % skip_of == 0) continue;
          for (size_t n = 0; n < kN; ++n) {
            partial[m * kN + n] = std::fma(round(a[m * kK + k]), round(b[k * kN + n]), partial[m * kN + n]);
          }
        }
      }
      for (size_t i = 0; i < c.size(); ++i) c[i] += partial[i];
    }
    return c;
  }
};

TEST(Compare, GemmReorderedIsAccepted) {
  const Gemm gemm;
  const Doubles r = gemm.reference();
  const Floats naive = gemm.product();
  EXPECT_EQ(name_of(judged(gemm.form, naive, r, naive)), "accepted");
  for (const size_t parts : {2, 4, 16, 64}) {
    EXPECT_EQ(name_of(judged(gemm.form, gemm.product(parts), r, naive)), "accepted") << parts;
    EXPECT_EQ(name_of(judged(gemm.form, naive, r, gemm.product(parts))), "accepted") << parts;
  }
  EXPECT_EQ(name_of(judged(gemm.form, r, r, naive)), "accepted");
}

TEST(Compare, GemmCheatsAreRefused) {
  const Gemm gemm;
  const Doubles r = gemm.reference();
  const Floats naive = gemm.product();
  const auto refused = [&](const Floats& y) { return name_of(judged(gemm.form, y, r, naive)); };
  EXPECT_EQ(refused(gemm.product(1, tf32)), "wrong_result");
  EXPECT_EQ(refused(gemm.product(1, plain, 100)), "wrong_result");
  EXPECT_EQ(refused(Floats(naive.size(), 0.0f)), "wrong_result");
  EXPECT_EQ(refused(Floats(naive.size(), 1.0f)), "wrong_result");
  EXPECT_EQ(refused(Floats(gemm.a.begin(), gemm.a.begin() + static_cast<std::ptrdiff_t>(naive.size()))),
            "wrong_result");
  Floats last_column = naive;
  for (size_t m = 0; m < Gemm::kM; ++m) last_column[m * Gemm::kN + Gemm::kN - 1] = 0;
  EXPECT_EQ(refused(last_column), "wrong_result");
}

TEST(Compare, GemmOneWrongElementIsFoundAndNamed) {
  const Gemm gemm;
  const Doubles r = gemm.reference();
  const Floats naive = gemm.product();
  Floats y = naive;
  y[777] += 0.01f;
  const std::optional<verdicts::Verdict> verdict = judged(gemm.form, y, r, naive);
  ASSERT_EQ(name_of(verdict), "wrong_result");
  const auto& wrong = std::get<verdicts::WrongResult>(*verdict);
  EXPECT_EQ(wrong.index, 777);
  EXPECT_EQ(wrong.wrong_elements, 1);
  EXPECT_EQ(wrong.elements, static_cast<int64_t>(naive.size()));
  EXPECT_GT(wrong.ratio, 1);
  EXPECT_EQ(wrong.got, y[777]);
  EXPECT_EQ(wrong.expected, r[777]);
}

TEST(Compare, NothingNonFiniteIsAcceptedWhereTheReferenceIsFinite) {
  const Gemm gemm;
  const Doubles r = gemm.reference();
  const Floats naive = gemm.product();
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    Floats y = naive;
    y[5] = bad;
    EXPECT_EQ(name_of(judged(gemm.form, y, r, naive)), "wrong_non_finite");
    EXPECT_EQ(name_of(judged(gemm.form, Floats(y.size(), bad), r, naive)), "wrong_non_finite");
  }
}

TEST(Compare, NonFiniteValuesMustStandWhereTheReferenceHasThem) {
  const Doubles r{NAN, INFINITY, -INFINITY, 1};
  const ComparisonCase form{DType::f32, 4, {}, false};
  const Floats right{NAN, INFINITY, -INFINITY, 1};
  EXPECT_EQ(name_of(judged(form, right, r, right)), "accepted");
  EXPECT_EQ(name_of(judged(form, Floats{0, INFINITY, -INFINITY, 1}, r, right)), "wrong_non_finite");
  EXPECT_EQ(name_of(judged(form, Floats{NAN, -INFINITY, -INFINITY, 1}, r, right)), "wrong_non_finite");
  EXPECT_EQ(name_of(judged(form, Floats{NAN, INFINITY, 3e38f, 1}, r, right)), "wrong_non_finite");
}

TEST(Compare, OverflowOfTheOutputTypeIsExpected) {
  const Doubles r{1e5, -1e5, 65504, 100};
  const ComparisonCase form{DType::f16, 4, {}, false};
  const Doubles right{INFINITY, -INFINITY, 65504, 100};
  EXPECT_EQ(name_of(judged(form, right, r, right)), "accepted");
  EXPECT_EQ(name_of(judged(form, Doubles{65504, -INFINITY, 65504, 100}, r, right)), "wrong_non_finite");
  EXPECT_EQ(name_of(judged(form, Doubles{INFINITY, -INFINITY, 65504, INFINITY}, r, right)), "wrong_non_finite");
  // A naive solution that overflows on the way binds nobody.
  const Doubles overflowed{INFINITY, -INFINITY, 65504, INFINITY};
  EXPECT_EQ(name_of(judged(form, right, r, overflowed)), "accepted");
  EXPECT_EQ(name_of(judged(form, overflowed, r, overflowed)), "accepted");
  // Beyond the largest number, too, it may meet both infinities; an infinity there stays right, and no finite number
  // is.
  const Doubles beyond{1e44, 1, 2, 3}, neither{NAN, 1, 2, 3};
  EXPECT_EQ(name_of(judged({DType::f32, 4, {}}, neither, beyond, neither)), "accepted");
  EXPECT_EQ(name_of(judged({DType::f32, 4, {}}, Doubles{INFINITY, 1, 2, 3}, beyond, neither)), "accepted");
  EXPECT_EQ(name_of(judged({DType::f32, 4, {}}, Doubles{3e38, 1, 2, 3}, beyond, neither)), "wrong_non_finite");
  EXPECT_EQ(name_of(judged({DType::f32, 4, {}}, neither, beyond, Doubles{INFINITY, 1, 2, 3})), "wrong_non_finite");
}

TEST(Compare, AnF16TooLargeForItsFormatIsInfinite) {
  ComparisonCase form{DType::f16, 4, {}, false};
  form.may_overflow = true;
  const Doubles r{1e5, 2, -3e5, 1}, right{INFINITY, 2, -INFINITY, 1};
  EXPECT_EQ(name_of(judged(form, right, r, right)), "accepted");
  EXPECT_EQ(name_of(judged(form, Doubles{34464, 2, -INFINITY, 1}, r, right)), "wrong_non_finite");
  EXPECT_EQ(name_of(judged(form, Doubles{65504, 2, -65504, 1}, r, right)), "wrong_non_finite");
  // A sum of f32 may overflow on its way.
  form.dtype = DType::bf16;
  const Doubles beyond{1e39, 2, -1e39, 1};
  EXPECT_EQ(name_of(judged(form, Doubles{3e38, 2, -INFINITY, 1}, beyond, right)), "accepted");
}

TEST(Compare, TinyGemmsInAnyOrderAreAccepted) {
  int refused = 0;
  uint64_t key = 0;
  for (const size_t m : {1, 2, 3, 7}) {
    for (const size_t n : {1, 2, 5}) {
      for (const size_t k : {2, 3, 7, 61, 509}) {
        benchsuite::Problem problem;
        const auto constant = [](size_t value) { return core::Expr::constant(static_cast<int64_t>(value)); };
        problem.inputs = {{"a", DType::f32, {constant(m), constant(k)}, {}},
                          {"b", DType::f32, {constant(k), constant(n)}, {}}};
        problem.outputs = {{"c", DType::f32, {constant(m), constant(n)}, {}}};
        for (int draw = 0; draw < 60; ++draw) {
          const Floats a = normal(m * k, ++key), b = normal(k * n, ++key);
          const ComparisonCase form{DType::f32, n,
                                    reduction_of(problem, {}, problem.outputs[0], draws::Distribution::ordinary,
                                                 {stored(DType::f32, a), stored(DType::f32, b)}),
                                    false};
          Doubles r(m * n);
          Floats forward(m * n), backward(m * n), rounded(m * n);
          for (size_t i = 0; i < m * n; ++i) {
            for (size_t t = 0; t < k; ++t) {
              const float x = a[i / n * k + t], y = b[t * n + i % n];
              const float x_last = a[i / n * k + k - 1 - t], y_last = b[(k - 1 - t) * n + i % n];
              r[i] += double{x} * double{y};
              forward[i] = std::fma(x, y, forward[i]);
              backward[i] = std::fma(x_last, y_last, backward[i]);
              const volatile float product = x * y;
              rounded[i] += product;
            }
          }
          for (const auto* naive : {&forward, &backward, &rounded}) {
            for (const auto* y : {&forward, &backward, &rounded}) refused += judged(form, *y, r, *naive).has_value();
          }
        }
      }
    }
  }
  EXPECT_EQ(refused, 0);
}

// Two spikes that meet make an element far above the others. Taken last it is rounded once, taken first with each term.
TEST(Compare, GemmsOfSpikesInAnyOrderAreAccepted) {
  constexpr size_t kM = 37, kN = 53, kK = 29;
  const auto constant = [](size_t value) { return core::Expr::constant(static_cast<int64_t>(value)); };
  benchsuite::Problem problem;
  problem.inputs = {{"a", DType::f32, {constant(kM), constant(kK)}, {}},
                    {"b", DType::f32, {constant(kK), constant(kN)}, {}}};
  problem.outputs = {{"c", DType::f32, {constant(kM), constant(kN)}, {}}};
  problem.contract.exact_integers = true;
  problem.cost.flops = constant(2 * kM * kN * kK);
  int refused = 0;
  uint64_t key = 0;
  for (int draw = 0; draw < 400; ++draw) {
    std::vector<std::vector<std::byte>> inputs;
    for (const benchsuite::Tensor& tensor : problem.inputs) {
      draws::fill_input(inputs.emplace_back(static_cast<size_t>(tensor.bytes({}))), tensor, {},
                        draws::Distribution::spikes, ++key);
    }
    Floats a(kM * kK), b(kK * kN), forward(kM * kN), backward(kM * kN);
    std::memcpy(a.data(), inputs[0].data(), inputs[0].size());
    std::memcpy(b.data(), inputs[1].data(), inputs[1].size());
    Doubles r(kM * kN);
    for (size_t i = 0; i < r.size(); ++i) {
      for (size_t k = 0; k < kK; ++k) {
        const size_t last = kK - 1 - k;
        r[i] += double{a[i / kN * kK + k]} * double{b[k * kN + i % kN]};
        forward[i] = std::fma(a[i / kN * kK + k], b[k * kN + i % kN], forward[i]);
        backward[i] = std::fma(a[i / kN * kK + last], b[last * kN + i % kN], backward[i]);
      }
    }
    const ComparisonCase form{
        DType::f32, kN,
        reduction_of(problem, {}, problem.outputs[0], draws::Distribution::spikes, {inputs[0], inputs[1]}), false};
    refused += judged(form, backward, r, forward).has_value();
    refused += judged(form, forward, r, backward).has_value();
  }
  EXPECT_EQ(refused, 0);
}

// y = gelu(x), where the exact form is asked for.
TEST(Compare, GeluByAnotherFormulaIsAcceptedAndTheTanhFormRefused) {
  for (const float scale : {1.0f, 1e-30f, 1000.0f}) {
    const Floats x = normal(8192, 3, scale);
    Doubles r(x.size());
    Floats naive(x.size()), honest(x.size()), tanh_form(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const float v = x[i];
      r[i] = 0.5 * v * (1 + std::erf(double{v} * std::sqrt(0.5)));
      naive[i] = 0.5f * v * (1 + std::erf(v * 0.70710678f));
      honest[i] = v * (0.5f + 0.5f * std::erf(v * 0.70710678f));
      tanh_form[i] = 0.5f * v * (1 + std::tanh(0.7978845608f * (v + 0.044715f * v * v * v)));
    }
    const ComparisonCase form{DType::f32, x.size(), {}, false};
    EXPECT_EQ(name_of(judged(form, honest, r, naive)), "accepted") << scale;
    if (scale == 1) {
      EXPECT_EQ(name_of(judged(form, tanh_form, r, naive)), "wrong_result");
    }
  }
}

// Long rows of very different scale: a small row has to be right by its own measure, wherever tiles are cut.
TEST(Compare, ASmallRowIsMeasuredByItsOwnScale) {
  constexpr size_t kRows = 8, kColumns = 5000;
  Doubles r(kRows * kColumns);
  statistics::Stream stream(4);
  for (size_t i = 0; i < r.size(); ++i) r[i] = std::pow(10.0, static_cast<double>(i / kColumns) - 4) * stream.normal();
  const ComparisonCase form{DType::f32, kColumns, {}, false};
  Floats naive(r.begin(), r.end()), y = naive;
  for (float& value : naive) value *= 1 + 3e-7f * stream.normal();
  EXPECT_EQ(name_of(judged(form, y, r, naive)), "accepted");
  for (size_t i = 4990; i < 5000; ++i) y[i] = 0;  // the end of row 0, whose scale is 1e-4
  EXPECT_EQ(name_of(judged(form, y, r, naive)), "wrong_result");
}

TEST(Compare, AnEvenLossOfPrecisionIsRefusedByItsRms) {
  const Gemm gemm;
  const Doubles r = gemm.reference();
  const Floats naive = gemm.product();
  Floats y(naive.size());
  for (size_t i = 0; i < y.size(); ++i) {  // six times the naive error in every element
    y[i] = static_cast<float>(r[i] + 6 * (double{naive[i]} - r[i]));
  }
  EXPECT_EQ(name_of(judged(gemm.form, y, r, naive)), "wrong_result");
}

TEST(Compare, NarrowOutputsMayDifferByTheirRounding) {
  const Gemm gemm;
  const Doubles r = gemm.reference();
  const Floats naive = gemm.product();
  for (const DType dtype : {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2}) {
    const ComparisonCase form{dtype, Gemm::kN, {}, false};
    EXPECT_EQ(name_of(judged(form, gemm.product(16), r, naive)), "accepted");
    EXPECT_EQ(name_of(judged(form, gemm.product(1, plain, 100), r, naive)), "wrong_result");
    const auto narrow_sum = [](float v) { return std::bit_cast<float>(std::bit_cast<uint32_t>(v) & 0xFFF80000u); };
    EXPECT_EQ(name_of(judged(form, gemm.product(1, narrow_sum), r, naive)), "wrong_result");
  }
}

TEST(Compare, TheExactBatteryAllowsNoDifference) {
  Doubles r(1000);
  statistics::Stream stream(5);
  for (double& value : r) value = static_cast<double>(stream.below(41)) - 20;
  ComparisonCase form{DType::f32, 100, {}, true};
  Floats y(r.begin(), r.end());
  EXPECT_EQ(name_of(judged(form, y, r, y)), "accepted");
  y[10] = std::nextafterf(y[10], 100);
  EXPECT_EQ(name_of(judged(form, y, r, y)), "wrong_result");
  y[10] = NAN;
  EXPECT_EQ(name_of(judged(form, y, r, y)), "wrong_result");
}

TEST(Compare, IntegersAreExact) {
  const Doubles r{1, 2, 3, 4};
  EXPECT_EQ(name_of(judged({DType::i32, 4, {}, false}, r, r, r)), "accepted");
  const std::optional<verdicts::Verdict> verdict = judged({DType::i32, 4, {}, false}, Doubles{1, 2, 4, 4}, r, r);
  ASSERT_EQ(name_of(verdict), "wrong_result");
  EXPECT_EQ(std::get<verdicts::WrongResult>(*verdict).index, 2);
  EXPECT_EQ(std::get<verdicts::WrongResult>(*verdict).wrong_elements, 1);
}

TEST(Compare, LargeIntegersAreExact) {
  const std::vector<int64_t> r{int64_t{1} << 60, 2}, y{(int64_t{1} << 60) + 1, 2};
  const auto compared = [&](const std::vector<int64_t>& output) {
    const auto expected = std::as_bytes(std::span(r));
    return compare({DType::i64, DType::i64, 2, {}, false, std::as_bytes(std::span(output)), {expected, expected}, {}},
                   "y", {"w", "", "", ""});
  };
  EXPECT_TRUE(std::holds_alternative<Match>(compared(r)));
  const auto result = compared(y);
  const auto& wrong = std::get<verdicts::WrongResult>(std::get<verdicts::Verdict>(result));
  EXPECT_EQ(wrong.index, 0);
  EXPECT_EQ(wrong.wrong_elements, 1);
  EXPECT_GT(wrong.ratio, 1);
}

TEST(Compare, AllZerosMustBeZero) {
  const Doubles r(64, 0.0);
  const ComparisonCase form{DType::f32, 64, {}, false};
  EXPECT_EQ(name_of(judged(form, r, r, r)), "accepted");
  EXPECT_EQ(name_of(judged(form, Floats(64, 1e-30f), r, r)), "wrong_result");
}

// Float atomics on a GPU flush denormals, so that an honest kernel gives zero.
TEST(Compare, WhatCancelsMayErrAsTheNaiveSolutionDoes) {
  // A product that is added to its own rounded value: zero, or with a fused operation what the rounding left.
  const ComparisonCase one{DType::f32, 1, {}};
  EXPECT_EQ(name_of(judged(one, Floats{-4.87e-11f}, Doubles{0}, Floats{-4.87e-11f})), "accepted");
  EXPECT_EQ(name_of(judged(one, Floats{0}, Doubles{0}, Floats{-4.87e-11f})), "accepted");
  EXPECT_EQ(name_of(judged(one, Floats{-4.87e-9f}, Doubles{0}, Floats{-4.87e-11f})), "wrong_result");
  EXPECT_EQ(name_of(judged(one, Floats{-4.87e-11f}, Doubles{0}, Floats{0})), "wrong_result");
}

TEST(Compare, DenormalsMayBeFlushedAndNothingLarger) {
  const double least = static_cast<double>(std::numeric_limits<float>::min());
  const Doubles denormal(64, least / 3), normal(64, 3 * least);
  EXPECT_EQ(name_of(judged({DType::f32, 1, {}, false}, Floats(64, 0), denormal, denormal)), "accepted");
  EXPECT_EQ(name_of(judged({DType::f32, 1, {}, false}, Floats(64, 0), normal, normal)), "wrong_result");
  EXPECT_EQ(name_of(judged({DType::f64, 1, {}, false}, Doubles(64, 0), denormal, denormal)), "wrong_result");
}

// A product in double goes on where one in float has ended: it is no scale for the others of its tile.
TEST(Compare, WhatOverflowsIsNoScale) {
  const Floats x{1e15f, 3e15f, -2e15f, 5e20f};
  const double product = static_cast<double>(x[0]) * static_cast<double>(x[1]);
  for (const double last : {6e45, 3e200}) {  // whose square is finite, and is not
    Floats y{x[0], x[0] * x[1], INFINITY, INFINITY};
    Floats naive = y;
    naive[1] = std::nextafterf(naive[1], 0);
    const Doubles r{x[0], product, 6e45, last};
    EXPECT_EQ(name_of(judged({DType::f32, 4, {}, false}, y, r, naive)), "accepted");
    y[1] *= 1.001f;
    EXPECT_EQ(name_of(judged({DType::f32, 4, {}, false}, y, r, naive)), "wrong_result");
  }
}

// exp(x) - 1 in double is 0 for a tiny x, as the naive solution is; expm1 gives x.
TEST(Compare, AKernelMayBeNearerToTheTruthThanItsReference) {
  const auto output = test::stored(DType::f32, Floats(100, -2e-17f)), naive = test::stored(DType::f32, Floats(100, 0));
  const auto reference = test::stored(DType::f64, Doubles(100, 0));
  OutputForm form{DType::f32, DType::f32, tiling_of(100, 100), {}};
  const auto compared = [&] {
    const auto result = compare(form, false, output, {reference, naive}, {});
    return name_of(std::holds_alternative<Match>(result) ? std::nullopt
                                                         : std::optional(std::get<verdicts::Verdict>(result)));
  };
  EXPECT_EQ(compared(), "wrong_result");
  form.reference_error = 0x1p-52;
  EXPECT_EQ(compared(), "accepted");
  form.reference_error = 0x1p-60;
  EXPECT_EQ(compared(), "wrong_result");
}

TEST(Tiles, ManyShortRowsShareThem) {
  const auto tiling = [](size_t columns, size_t rows) { return tiling_of(columns, columns * rows); };
  EXPECT_EQ(tiling(84, 1 << 18).row, 84);
  for (const size_t columns : {1, 2, 31, 84, 2047, 4095, 4096, 5000}) {
    const size_t rows = 27'000'001;
    const Tiling many = tiling(columns, rows);
    EXPECT_LE(many.end(0) - many.begin(0), 4096) << columns;
    EXPECT_EQ(many.end(many.count() - 1), static_cast<int64_t>(columns * rows));
    for (const int64_t index : {int64_t{0}, int64_t{12'345'678}, static_cast<int64_t>(columns * rows) - 1}) {
      const int64_t tile = tile_of(many, index);
      EXPECT_TRUE(many.begin(tile) <= index && index < many.end(tile)) << columns << " " << index;
    }
  }
  EXPECT_LE(tiling(15, 27'000'001).count(), 1 << 18);
}

// Where the naive solution is right to the last bit and nothing is summed.
TEST(Compare, CopiesAreExact) {
  const Floats x = normal(1000, 8);
  const Doubles r(x.begin(), x.end());
  Floats y = x;
  EXPECT_EQ(name_of(judged({DType::f32, 100, {}, false}, y, r, x)), "accepted");
  y[500] = std::nextafterf(y[500], 100);
  EXPECT_EQ(name_of(judged({DType::f32, 100, {}, false}, y, r, x)), "wrong_result");
  EXPECT_EQ(name_of(judged({DType::f32, 100, {100, 0, false, true}, false}, y, r, x)), "accepted");
}

// One element far above its tile's scale, whose rounding errs by more than all that the tile shows.
TEST(Compare, AnElementOf16BitsMayErrByHalfAStepOfItsOwn) {
  for (const auto& [dtype, step] : {std::pair{DType::f16, 0x1p-5}, std::pair{DType::bf16, 0x1p-2}}) {
    Doubles r(4096, 1.0);
    r[77] = 33 + 0.499 * step;
    Doubles y = r;
    y[77] = 33;
    EXPECT_EQ(name_of(judged({dtype, 512, {}, false}, y, r, r)), "accepted");
    y[77] = 33 + step;  // 0.501 of a step
    EXPECT_EQ(name_of(judged({dtype, 512, {}, false}, y, r, r)), "accepted");
    y[77] = 33 - step;
    EXPECT_EQ(name_of(judged({dtype, 512, {}, false}, y, r, r)), "wrong_result");
  }
}

// A product in f16 that is rounded to f16 again.
TEST(Compare, ASecondRoundingShowsInManyElements) {
  const Floats x = normal(8192, 9), w = normal(8192, 10);
  Doubles r, once, twice;
  for (size_t i = 0; i < x.size(); ++i) {
    const double left = static_cast<double>(x[i]), right = draws::rounded_to(DType::f16, static_cast<double>(w[i]));
    r.push_back(left * right);
    once.push_back(static_cast<double>(x[i] * static_cast<float>(right)));
    twice.push_back(draws::rounded_to(DType::f16, left) * right);
  }
  EXPECT_EQ(name_of(judged({DType::f16, 512, {}, false}, once, r, once)), "accepted");
  EXPECT_EQ(name_of(judged({DType::f16, 512, {}, false}, twice, r, once)), "wrong_result");
  // As PyTorch's operators do, which are timed all the same.
  EXPECT_EQ(name_of(judged({DType::f16, 512, {}, false, false, true}, twice, r, once)), "accepted");
}

TEST(Compare, NothingIsDemandedWhereTheNaiveSolutionOverflowsUnderAPatch) {
  const Floats x = normal(1000, 11);
  Doubles r(x.begin(), x.end());
  Floats naive = x, y = x;
  for (size_t i = 0; i < 100; ++i) naive[i] = i % 2 == 0 ? INFINITY : NAN;
  for (size_t i = 0; i < 100; ++i) y[i] = 7;
  EXPECT_EQ(name_of(judged({DType::f32, 100, {}, false, true}, y, r, naive)), "accepted");
  EXPECT_NE(name_of(judged({DType::f32, 100, {}, false, false}, y, r, naive)), "accepted");
  y[500] = 7;  // in another tile
  EXPECT_EQ(name_of(judged({DType::f32, 100, {}, false, true}, y, r, naive)), "wrong_result");
}

TEST(Compare, OneMoreRoundingIsAnUlpInASingleElement) {
  verdicts::WrongResult wrong;
  wrong.expected = -6.748538155074766e31;  // of an attention's output in bf16, whose weights are rounded to bf16
  wrong.got = -6.718548181209616e31;
  wrong.wrong_elements = 1;
  EXPECT_TRUE(is_one_more_rounding(wrong, core::DType::bf16));
  EXPECT_FALSE(is_one_more_rounding(wrong, core::DType::f16));
  wrong.wrong_elements = 2;  // only the worst is known to be that close
  EXPECT_FALSE(is_one_more_rounding(wrong, core::DType::bf16));
  wrong.wrong_elements = 1;
  wrong.got = 1.01 * wrong.expected;
  EXPECT_FALSE(is_one_more_rounding(wrong, core::DType::bf16));
}

}  // namespace
}  // namespace verifier::comparison
