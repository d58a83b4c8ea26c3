#include <gtest/gtest.h>

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
        draws::Distribution::denormals, draws::Distribution::near_overflow}) {
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

// Shapes that nobody listed are small and odd: few outputs, each a sum that may cancel.

}  // namespace
}  // namespace verifier::comparison
