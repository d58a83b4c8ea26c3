#include "verifier/draws/distributions.h"

#include <map>
#include <set>
#include <tuple>

#include "core/paths.h"
#include "verifier/draws/inputs_fixture.h"

namespace verifier::draws {
namespace {
Tensor one_row() { return {"x", DType::f32, {Expr::parse("M * N")}, {}}; }

using testing::Contains;
using testing::Not;

TEST(Distributions, OnlySomeDistributionsAskForASecondNumber) {
  constexpr formulas::Row kRow{3, 0.5, 2, false, 1, 0};
  constexpr uint32_t kNumbers[] = {0, 1, 1 << 25, 1 << 28, ~0u};
  for (const Distribution distribution : all_distributions()) {
    std::set<std::tuple<bool, uint64_t, int64_t, double>> made;
    size_t asked = 0;
    for (const bool between_bounds : {false, true}) {
      const auto element = between_bounds ? formulas::bounded : formulas::unbounded;
      for (const uint64_t key : {uint64_t{1}, uint64_t{1} << 62, uint64_t{3} << 62}) {
        const formulas::FillArgs args = fill_args(tensor(DType::f32), kAxes, distribution, key);
        for (const int64_t column : {kRow.hot, kRow.hot + 1}) {
          ++asked;
          for (const uint32_t second : kNumbers) {
            const double value = element(args, kRow, column, {0.5, 0.25, 1u << 30, second});
            made.emplace(between_bounds, key, column, std::isnan(value) ? -1e300 : value);
          }
        }
      }
    }
    EXPECT_EQ(made.size() > asked, formulas::asks_second(distribution)) << name_of(distribution);
  }
}

TEST(DrawKeys, OneScaleGoesThroughItsKinds) {
  statistics::Keys keys(5);
  DrawKeys draws(keys);
  std::set<uint64_t> kinds;
  for (unsigned i = 0; i < kKinds; ++i) kinds.insert(draws.next(Distribution::one_scale) >> 62);
  EXPECT_EQ(kinds.size(), kKinds);
}

TEST(Distributions, DrawsOfOneRowGoThroughEachKindOfNonFinite) {
  using Seen = std::array<bool, 3>;  // NaN, infinity, -infinity
  const std::set<Seen> pure{{true, false, false}, {false, true, false}, {false, false, true}};
  std::set<Seen> mixed;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    statistics::Keys keys(seed);
    DrawKeys draws(keys);
    std::set<Seen> seen;
    for (unsigned i = 0; i < kKinds; ++i) {
      draws.next(Distribution::spikes);  // which do not count
      const uint64_t draw_key = draws.next(Distribution::non_finite);
      statistics::Keys of_tensors(draw_key);
      const auto values =
          drawn(one_row(), Distribution::non_finite, tensor_key(of_tensors, draw_key, Distribution::non_finite, 0, 1));
      seen.insert({std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }),
                   std::count(values.begin(), values.end(), INFINITY) > 0,
                   std::count(values.begin(), values.end(), -INFINITY) > 0});
    }
    EXPECT_EQ(seen.size(), size_t{kKinds});
    for (const Seen& one : pure) EXPECT_EQ(seen.erase(one), 1u);
    mixed.merge(seen);
  }
  EXPECT_EQ(mixed, (std::set<Seen>{{true, true, true}, {false, true, true}}));
}

TEST(Distributions, ShortInputsAreDrawnOncePerKind) {
  const benchsuite::Problem gelu = benchsuite::load_problem(core::installed_paths().problems() / "gelu_f32");
  EXPECT_EQ(draws_for(gelu, {{"N", 1000}}, Distribution::non_finite), 4);
  EXPECT_EQ(draws_for(gelu, {{"N", 1000}}, Distribution::spikes), 1);
  const benchsuite::Problem softmax = benchsuite::load_problem(core::installed_paths().problems() / "softmax_f32");
  EXPECT_EQ(draws_for(softmax, {{"M", 3}, {"N", 1000}}, Distribution::non_finite), 4);
  EXPECT_EQ(draws_for(softmax, {{"M", 4}, {"N", 1000}}, Distribution::non_finite), 1);
}

// However many inputs and test shapes a problem has, up to the most draws that a shape gets.
TEST(Distributions, EachInputIsRegularInEachWay) {
  for (const char* name : {"row_sum_f32", "gemm_f32", "layernorm_f32"}) {
    const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / name);
    statistics::Keys keys(7);
    DrawKeys draws(keys);
    std::set<std::pair<size_t, uint64_t>> seen;
    for (const benchsuite::Workload& workload : problem.workloads) {
      if (workload.role != benchsuite::Role::test) continue;
      for (int i = draws_for(problem, workload.axes, Distribution::regular); i > 0; --i) {
        const uint64_t key = draws.next(Distribution::regular);
        for (size_t input = 0; input < problem.inputs.size(); ++input) {
          if (distribution_of(problem, workload.axes, Distribution::regular, key, input) == Distribution::regular) {
            seen.insert({input, key >> 62});
          }
        }
      }
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), ways_of_one_input(problem)) << name;
  }
}

// The product of the lowest bits is there only where both have many bits, and f32 must hold it.
TEST(Distributions, EverySecondExactProductHasTwoHalves) {
  constexpr uint64_t kSecond = uint64_t{1} << 62;
  statistics::Keys keys(5);
  for (size_t input = 0; input < 2; ++input) {
    const uint64_t key = tensor_key(keys, kSecond, Distribution::exact_products, input, 2);
    double largest = 0;
    for (const double v : drawn(tensor(DType::f32), Distribution::exact_products, key)) {
      largest = std::max(largest, std::fabs(v));
      EXPECT_TRUE(v == 0 || std::fmod(std::fabs(v), 2) == 1) << v;
    }
    EXPECT_GT(largest, 1 << 11);
    EXPECT_LT(largest, 1 << 12);
  }
  statistics::Keys of_judgement(6);
  DrawKeys draws(of_judgement);
  const uint64_t first = draws.next(Distribution::exact_products), second = draws.next(Distribution::exact_products);
  EXPECT_EQ((first ^ second) & kSecond, kSecond) << "they take turns";
}

// Rows in four ways: about the number, beyond or below it, far below a few others, and with elements of its size.
TEST(DrawKeys, EachNumberGetsEachKindInFourRounds) {
  statistics::Keys keys(1);
  for (const size_t numbers : {1, 4, 5, 6, 7, 8}) {
    DrawKeys draws(keys);
    std::vector<std::set<uint64_t>> kinds(numbers);
    for (unsigned round = 0; round < kKinds; ++round) {
      draws.begin_round(numbers);
      for (auto& of_number : kinds) of_number.insert(draws.next(Distribution::named) >> 62);
    }
    for (const auto& of_number : kinds) EXPECT_EQ(of_number.size(), kKinds) << numbers;
  }
}

benchsuite::Problem problem(std::vector<Tensor> inputs, bool nan) {
  benchsuite::Problem made;
  made.inputs = std::move(inputs);
  made.contract.nan = nan;
  return made;
}

TEST(Distributions, TinyIsOneInputMostlyAndAllNowAndThen) {
  const auto products = problem({tensor(DType::f32), tensor(DType::f32)}, false);
  statistics::Keys keys(4);
  DrawKeys draws(keys);
  std::map<int, int> counts;
  for (int i = 0; i < 40; ++i) {
    const uint64_t key = draws.next(Distribution::tiny);
    int tiny = 0;
    for (size_t input = 0; input < 2; ++input) {
      tiny += distribution_of(products, kAxes, Distribution::tiny, key, input) == Distribution::tiny;
    }
    ++counts[tiny];
  }
  EXPECT_EQ(counts, (std::map<int, int>{{1, 30}, {2, 10}}));
}

TEST(Distributions, AlikeOnesDifferInAnExceptionOfEach) {
  statistics::Keys keys(6);
  for (int i = 0; i < 20; ++i) {
    const uint64_t draw_key = keys.next();
    std::vector<std::vector<double>> inputs;
    for (size_t input = 0; input < 2; ++input) {
      inputs.push_back(
          drawn(tensor(DType::f32), Distribution::alike, tensor_key(keys, draw_key, Distribution::alike, input, 2)));
    }
    int differ = 0;
    for (size_t at = 0; at < inputs[0].size(); ++at) differ += inputs[0][at] != inputs[1][at];
    EXPECT_GE(differ, 1);
    EXPECT_LE(differ, 2);
    EXPECT_NEAR(rms(inputs[0], 0, 64000), 1, 0.02);
  }
  EXPECT_THAT(adversarial_for(problem({tensor(DType::f32), tensor(DType::f32)}, false)), Contains(Distribution::alike));
  EXPECT_THAT(adversarial_for(problem({tensor(DType::f32), tensor(DType::f16)}, false)),
              Not(Contains(Distribution::alike)));
}

TEST(Distributions, AdversarialDistributionsSuitTheContract) {
  const auto plain = adversarial_for(problem({tensor(DType::f32)}, false));
  EXPECT_GE(plain.size(), 5u);
  EXPECT_THAT(plain, Not(Contains(Distribution::non_finite)));
  EXPECT_THAT(plain, Contains(Distribution::one_scale));
  EXPECT_THAT(adversarial_for(problem({tensor(DType::f32)}, true)), Contains(Distribution::non_finite));
  EXPECT_GE(adversarial_for(problem({tensor(DType::f16)}, false)).size(), 5u);
  EXPECT_THAT(adversarial_for(problem({integers(DType::i32, 0, 255)}, false)),
              testing::ElementsAre(Distribution::patchwork, Distribution::one_value, Distribution::regular,
                                   Distribution::ties, Distribution::simple, Distribution::ordered));
  const auto mixed = adversarial_for(problem({tensor(DType::f32), integers(DType::i32, 0, 9)}, false));
  EXPECT_THAT(mixed, testing::AllOf(Contains(Distribution::one_value), Contains(Distribution::offset)));
}

TEST(Distributions, NoDistributionIsForGivenOnes) {
  const Tensor given = tensor(DType::f32, Init::given);
  EXPECT_THAT(adversarial_for(problem({given}, true)), testing::ElementsAre(Distribution::ordinary));
  benchsuite::Problem products = problem({tensor(DType::f32), tensor(DType::i32, Init::given)}, false);
  products.contract.exact_integers = true;
  EXPECT_THAT(adversarial_for(products), Contains(Distribution::exact));
  EXPECT_THAT(adversarial_for(products), Not(Contains(Distribution::one_value)));  // of integers
  products.inputs.push_back(given);                                                // it need not hold whole numbers
  EXPECT_THAT(adversarial_for(products), Not(Contains(Distribution::exact)));
  std::vector<std::byte> bytes(16, std::byte{63});
  const std::vector<std::byte> before = bytes;
  jitter_input(bytes, given, 0, 1);
  EXPECT_EQ(bytes, before);
}

TEST(Distributions, EveryDistributionHasItsOwnName) {
  std::set<std::string_view> names;
  for (const Distribution distribution : all_distributions()) names.insert(name_of(distribution));
  EXPECT_EQ(names.size(), all_distributions().size());
  EXPECT_EQ(names.count(""), 0u);
}

}  // namespace
}  // namespace verifier::draws
