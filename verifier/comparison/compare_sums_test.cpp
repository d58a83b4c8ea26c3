#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "verifier/comparison/compare_fixture.h"
#include "verifier/draws/inputs.h"

namespace verifier::comparison {
namespace {
using test::ComparisonCase;
using test::Doubles;
using test::DType;
using test::Floats;
using test::judged;
using test::plain;
using test::tf32;

// Sums of all elements, one output: the naive error is a single number and may be small by luck.
struct Sum {
  Floats x;
  Reduction reduction;

  Sum(size_t count, draws::Distribution distribution, uint64_t key) {
    benchsuite::Problem problem;
    problem.inputs = {{"x", DType::f32, {core::Expr::constant(static_cast<int64_t>(count))}, {}}};
    problem.outputs = {{"y", DType::f32, {core::Expr::constant(1)}, {}}};
    std::vector<std::byte> bytes(count * sizeof(float));
    draws::fill_input(bytes, problem.inputs[0], {}, distribution, key);
    reduction = reduction_of(problem, {}, problem.outputs[0], distribution, {bytes});
    x.resize(count);
    std::memcpy(x.data(), bytes.data(), bytes.size());
  }
  Doubles reference() const {
    double sum = 0;
    for (const float value : x) sum += double{value};
    return {sum};
  }
  // `threads` strided sums, then a tree.
  Floats strided(size_t threads, const std::function<float(float)>& round = plain, size_t skip_of = 0) const {
    Floats sums(threads);
    for (size_t i = 0; i < x.size(); ++i) {
      if (skip_of == 0 || i % skip_of != 0) sums[i % threads] += round(x[i]);
    }
    for (size_t half = threads / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
    }
    return {sums[0]};
  }
};

TEST(Compare, SumInAnyOrderIsAcceptedInEveryDistribution) {
  int refused = 0;
  for (const draws::Distribution distribution :
       {draws::Distribution::ordinary, draws::Distribution::row_scales, draws::Distribution::offset,
        draws::Distribution::spikes, draws::Distribution::one_hot, draws::Distribution::ties,
        draws::Distribution::denormals, draws::Distribution::one_scale}) {
    for (const size_t count : {3, 13, 700, 4099, 16384}) {
      for (uint64_t key = 0; key < 40; ++key) {
        const Sum sum(count, distribution, key * 1000 + count);
        const ComparisonCase form{DType::f32, 1, sum.reduction, false};
        const Floats naive = sum.strided(256);
        for (const size_t threads : {1, 2, 32, 1024, 4096}) {
          refused += judged(form, sum.strided(threads), sum.reference(), naive).has_value();
          refused += judged(form, naive, sum.reference(), sum.strided(threads)).has_value();
        }
      }
    }
  }
  EXPECT_EQ(refused, 0);
}

TEST(Compare, SumCheatsAreRefused) {
  int accepted = 0, cases = 0;
  for (const draws::Distribution distribution :
       {draws::Distribution::ordinary, draws::Distribution::offset, draws::Distribution::spikes}) {
    for (uint64_t key = 0; key < 50; ++key) {
      const Sum sum(16384, distribution, key);
      const ComparisonCase form{DType::f32, 1, sum.reduction, false};
      const Floats naive = sum.strided(256);
      for (const Floats& y : {sum.strided(256, plain, 100), Floats{0}, Floats{1}, Floats{naive[0] * 1.01f}}) {
        accepted += !judged(form, y, sum.reference(), naive).has_value();
        ++cases;
      }
    }
  }
  EXPECT_LE(accepted, cases / 100);  // 1 % of elements may sum to nearly nothing, or the sum be nearly zero
}

TEST(Compare, SumOfRoundedInputsIsRefusedInMostDraws) {
  int refused = 0;
  for (uint64_t key = 0; key < 100; ++key) {
    const Sum sum(4099, draws::Distribution::ordinary, key);
    refused += judged({DType::f32, 1, sum.reduction, false}, sum.strided(256, tf32), sum.reference(), sum.strided(256))
                   .has_value();
  }
  EXPECT_GE(refused, 90);
}

// A plane of 256 x 256 normalised by 256 threads, each of which sums a column. In a draw of few most terms of the
// variance are the square of the mean, so that all threads round in the same direction. PyTorch errs less.
TEST(Compare, NormsOfPlanesByColumnsAreAcceptedWhereTermsAreAlike) {
  constexpr size_t kSide = 256, kPlane = kSide * kSide;
  benchsuite::Problem problem;
  const core::Expr planes = core::Expr::constant(16), side = core::Expr::constant(kSide);
  problem.inputs = {{"x", DType::f32, {planes, side, side}, {}}};
  problem.outputs = {{"y", DType::f32, {planes, side, side}, {}}};
  problem.contract.sums = core::Expr::constant(kPlane);
  std::vector<std::byte> bytes(16 * kPlane * sizeof(float));
  draws::fill_input(bytes, problem.inputs[0], {}, draws::Distribution::few, 7);
  Floats x(16 * kPlane), y(x.size()), naive(x.size());
  Doubles reference(x.size());
  std::memcpy(x.data(), bytes.data(), bytes.size());
  for (size_t begin = 0; begin < x.size(); begin += kPlane) {
    const auto normalise = [&]<typename T>(const auto& sum, std::vector<T>& out) {
      const T mean = sum([&](size_t i) { return static_cast<T>(x[begin + i]); }) / T{kPlane};
      const auto apart = [&](size_t i) { return static_cast<T>(x[begin + i]) - mean; };
      const T factor = 1 / std::sqrt(sum([&](size_t i) { return apart(i) * apart(i); }) / T{kPlane} + T(1e-5));
      for (size_t i = 0; i < kPlane; ++i) out[begin + i] = apart(i) * factor;
    };
    const auto added = [](const auto& term, size_t lanes) {
      std::vector<decltype(term(0))> sums(lanes);
      for (size_t i = 0; i < kPlane; ++i) sums[i % lanes] += term(i);
      for (size_t half = lanes / 2; half > 0; half /= 2) {
        for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
      }
      return sums[0];
    };
    normalise([&](const auto& term) { return added(term, 1); }, reference);
    normalise([&](const auto& term) { return static_cast<float>(added([&](size_t i) { return double{term(i)}; }, 1)); },
              naive);
    normalise([&](const auto& term) { return added(term, kSide); }, y);
  }
  const Reduction reduction = reduction_of(problem, {}, problem.outputs[0], draws::Distribution::few, {bytes});
  EXPECT_EQ(name_of(judged({DType::f32, kSide, reduction, false}, y, reference, naive)), "accepted");
  for (float& value : y) value *= 1.001f;  // one in a thousand still is too much
  EXPECT_EQ(name_of(judged({DType::f32, kSide, reduction, false}, y, reference, naive)), "wrong_result");
}

}  // namespace
}  // namespace verifier::comparison
