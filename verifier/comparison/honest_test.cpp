// Honest kernels in other orders than the naive one, on every distribution and on odd shapes: none may be refused. The
// forms are those of the shipped kernels, in plain C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "verifier/comparison/compare.h"
#include "verifier/draws/elements.h"
#include "verifier/draws/inputs.h"
#include "verifier/draws/neighbours.h"

namespace verifier::comparison {
namespace {
using benchsuite::Problem;
using core::DType;
using core::Expr;

// How a row's sum is taken: by `lanes` threads, each of every lanes-th term, or of one piece, or of every term from the
// last one back; then a tree over them.
enum class Walk { strides, pieces, backwards };
struct Order {
  size_t lanes = 1;
  Walk walk = Walk::strides;
  bool naive() const { return lanes == 1 && walk == Walk::strides; }
};

// Sums f(0) to f(n - 1). T is float for kernels and double for references.
template <typename T>
T sum(size_t n, const Order& order, const std::function<T(size_t)>& f) {
  std::vector<T> parts(order.lanes, T{0});
  const size_t piece = (n + order.lanes - 1) / order.lanes;
  for (size_t i = 0; i < n; ++i) {
    parts[order.walk == Walk::pieces ? i / piece : i % order.lanes] += f(order.walk == Walk::backwards ? n - 1 - i : i);
  }
  for (size_t half = order.lanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) parts[i] += parts[i + half];
  }
  return parts[0];
}

// One row: its inputs as numbers (x, then the vectors of N columns), and the column a target names.
template <typename T>
struct RowIn {
  std::vector<T> x, gamma, beta;
  size_t target = 0;
};
template <typename T>
using RowKernel = std::function<std::vector<T>(const RowIn<T>&, const Order& order)>;

template <typename T>
T largest(const std::vector<T>& x) {
  return *std::max_element(x.begin(), x.end());
}

template <typename T>
std::vector<T> row_sum(const RowIn<T>& in, const Order& order) {
  return {sum<T>(in.x.size(), order, [&](size_t i) { return in.x[i]; })};
}
template <typename T>
std::vector<T> softmax(const RowIn<T>& in, const Order& order) {
  const T most = largest(in.x);
  const T total = sum<T>(in.x.size(), order, [&](size_t i) { return std::exp(in.x[i] - most); });
  const T scale = 1 / total;
  std::vector<T> y;
  for (const T x : in.x) y.push_back(order.naive() ? std::exp(x - most) / total : std::exp(x - most) * scale);
  return y;
}
template <typename T>
std::vector<T> layernorm(const RowIn<T>& in, const Order& order) {
  const T n = static_cast<T>(in.x.size());
  const T mean = sum<T>(in.x.size(), order, [&](size_t i) { return in.x[i]; }) / n;
  const T squares = sum<T>(in.x.size(), order, [&](size_t i) { return (in.x[i] - mean) * (in.x[i] - mean); });
  const T scale = 1 / std::sqrt(squares / n + T(1e-5));
  std::vector<T> y;
  for (size_t i = 0; i < in.x.size(); ++i) y.push_back((in.x[i] - mean) * scale * in.gamma[i] + in.beta[i]);
  return y;
}
template <typename T>
std::vector<T> rmsnorm(const RowIn<T>& in, const Order& order) {
  const T squares = sum<T>(in.x.size(), order, [&](size_t i) { return in.x[i] * in.x[i]; });
  const T scale = 1 / std::sqrt(squares / static_cast<T>(in.x.size()) + T(1e-5));
  std::vector<T> y;
  for (size_t i = 0; i < in.x.size(); ++i) {
    y.push_back(order.naive() ? in.x[i] * scale * in.gamma[i] : in.x[i] * (scale * in.gamma[i]));
  }
  return y;
}
template <typename T>
std::vector<T> cross_entropy(const RowIn<T>& in, const Order& order) {
  const T most = largest(in.x);
  const T total = sum<T>(in.x.size(), order, [&](size_t i) { return std::exp(in.x[i] - most); });
  return {std::log(total) + most - in.x[in.target]};
}

struct Form {
  const char* name;
  DType dtype;
  bool one_per_row;  // output [M], otherwise [M, N]
  bool nan;
  RowKernel<float> kernel;
  RowKernel<double> reference;
};
std::ostream& operator<<(std::ostream& out, const Form& form) { return out << form.name; }

Problem problem_of(const Form& form) {
  const Expr m = Expr::parse("M"), n = Expr::parse("N");
  Problem problem;
  problem.contract.nan = form.nan;
  if (!form.one_per_row) problem.contract.sums = n;
  problem.inputs = {{"beta", form.dtype, {n}, {}}, {"gamma", form.dtype, {n}, {}}, {"x", form.dtype, {m, n}, {}}};
  problem.outputs = {{"y", form.dtype, form.one_per_row ? std::vector<Expr>{m} : std::vector<Expr>{m, n}, {}}};
  return problem;
}

template <typename T>
std::vector<T> part(const std::vector<double>& values, size_t begin, size_t count) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return {at, at + static_cast<std::ptrdiff_t>(count)};
}

template <typename T>
std::vector<std::byte> run(const RowKernel<T>& kernel, const Order& order,
                           const std::vector<std::vector<double>>& inputs, size_t rows, DType stored_as) {
  const size_t columns = inputs[0].size();
  std::vector<T> y;
  for (size_t m = 0; m < rows; ++m) {
    const RowIn<T> in{part<T>(inputs[2], m * columns, columns), part<T>(inputs[1], 0, columns),
                      part<T>(inputs[0], 0, columns), m * 7 % columns};
    const std::vector<T> row = kernel(in, order);
    y.insert(y.end(), row.begin(), row.end());
  }
  std::vector<std::byte> bytes(y.size() * core::size_bytes(stored_as));
  for (size_t i = 0; i < y.size(); ++i) draws::store_element(stored_as, bytes, i, static_cast<double>(y[i]));
  return bytes;
}

struct Expectation {
  std::vector<std::byte> reference, naive;
  NaiveRun run() const { return {reference, naive}; }
};
Expectation expect(const Form& form, const std::vector<std::vector<double>>& inputs, size_t rows) {
  return {run<double>(form.reference, {}, inputs, rows, DType::f64),
          run<float>(form.kernel, {}, inputs, rows, form.dtype)};
}

const Order kOrders[] = {{}, {4}, {32}, {256}, {1, Walk::backwards}, {2, Walk::pieces}, {64, Walk::pieces}};
constexpr int64_t kLarge = 1 << 15;

class Honest : public testing::TestWithParam<Form> {};
class HonestInF32 : public Honest {};

TEST_P(Honest, IsAcceptedOnEveryDistributionAndShape) {
  const Form& form = GetParam();
  const Problem problem = problem_of(form);
  std::vector<draws::Distribution> distributions = draws::adversarial_for(problem);
  distributions.push_back(draws::Distribution::ordinary);
  uint64_t key = 0;
  for (const draws::Distribution distribution : distributions) {
    for (const auto& shape : {std::pair<int64_t, int64_t>{1, 2},
                              {1, 3},
                              {3, 2},
                              {2, 33},
                              {1, 509},
                              {7, 251},
                              {16, 512},
                              {509, 3},
                              {64, 1024}}) {
      const int64_t m = shape.first, n = shape.second;
      const core::Bindings axes{{"M", m}, {"N", n}};
      for (int draw = 0; draw < (m * n < kLarge ? 12 : 2); ++draw) {
        std::vector<std::vector<std::byte>> bytes;
        std::vector<std::span<const std::byte>> spans;
        std::vector<std::vector<double>> inputs;
        const uint64_t draw_key = ++key;
        for (size_t i = 0; i < problem.inputs.size(); ++i) {
          const benchsuite::Tensor& tensor = problem.inputs[i];
          const draws::Distribution own = draws::distribution_of(problem, axes, distribution, draw_key, i);
          draws::fill_input(bytes.emplace_back(static_cast<size_t>(tensor.bytes(axes))), tensor, axes, own, ++key);
          inputs.push_back(draws::load_elements(tensor.dtype, bytes.back()));
        }
        for (const auto& tensor_bytes : bytes) spans.emplace_back(tensor_bytes);
        const auto rows = static_cast<size_t>(m);
        const Expectation expected = expect(form, inputs, rows);
        const auto neighbours_of = [&](uint64_t count) {
          std::vector<Expectation> neighbours;
          for (uint64_t i = 0; i < count; ++i) {
            std::vector<std::vector<double>> moved_inputs;
            for (size_t t = 0; t < inputs.size(); ++t) {
              std::vector<std::byte> moved = bytes[t];
              draws::jitter_input(moved, problem.inputs[t], i, ++key);
              moved_inputs.push_back(draws::load_elements(form.dtype, moved));
            }
            neighbours.push_back(expect(form, moved_inputs, rows));
          }
          return neighbours;
        };
        const bool may_overflow = draws::may_overflow(distribution);
        const std::vector<Expectation> neighbours = neighbours_of(draws::neighbours_wanted(problem, axes));
        for (const Order& order : kOrders) {
          const auto y = run<float>(form.kernel, order, inputs, rows, form.dtype);
          const auto judged_beside = [&](const std::vector<Expectation>& some) {
            std::vector<NaiveRun> runs;
            for (const Expectation& one : some) runs.push_back(one.run());
            return compare(
                {form.dtype,
                 DType::f32,
                 form.one_per_row ? rows : static_cast<size_t>(n),
                 reduction_of(problem, axes, problem.outputs[0], distribution, spans),
                 false,
                 y,
                 expected.run(),
                 runs,
                 {},
                 may_overflow},
                "y",
                {"w", "M=" + std::to_string(m) + " N=" + std::to_string(n), std::string(draws::name_of(distribution)),
                 std::to_string(order.lanes) + " lanes, walk " + std::to_string(static_cast<int>(order.walk))});
          };
          auto result = judged_beside(neighbours);
          // As Oracle::compare does: a few elements of a patch may decide.
          if (may_overflow && std::holds_alternative<verdicts::Verdict>(result))
            result = judged_beside(neighbours_of(6));
          if (const auto* verdict = std::get_if<verdicts::Verdict>(&result))
            ADD_FAILURE() << verdicts::sentence_for_people(*verdict);
        }
      }
    }
  }
}

// The same forms on inputs rounded to the ten bits of TF32, which no contract of an f32 problem allows.
TEST_P(HonestInF32, RoundedInputsAreRefused) {
  const Form& form = GetParam();
  const Problem problem = problem_of(form);
  const core::Bindings axes{{"M", 7}, {"N", 251}};
  for (uint64_t key = 0; key < 20; ++key) {
    std::vector<std::vector<std::byte>> bytes;
    std::vector<std::vector<double>> inputs, rounded;
    for (const benchsuite::Tensor& tensor : problem.inputs) {
      draws::fill_input(bytes.emplace_back(static_cast<size_t>(tensor.bytes(axes))), tensor, axes,
                        draws::Distribution::ordinary, key * 3 + bytes.size());
      inputs.push_back(draws::load_elements(tensor.dtype, bytes.back()));
      rounded.push_back(inputs.back());
      for (double& value : rounded.back()) {
        int exponent = 0;
        const double significand = std::frexp(value, &exponent);
        value = std::ldexp(std::round(significand * 2048), exponent - 11);
      }
    }
    const Expectation expected = expect(form, inputs, 7);
    const auto y = run<float>(form.kernel, {32}, rounded, 7, form.dtype);
    const auto result = compare(
        {form.dtype,
         DType::f32,
         form.one_per_row ? 7u : 251u,
         reduction_of(problem, axes, problem.outputs[0], draws::Distribution::ordinary, {bytes[0], bytes[1], bytes[2]}),
         false,
         y,
         expected.run(),
         {}},
        "y", {});
    EXPECT_TRUE(std::holds_alternative<verdicts::Verdict>(result)) << key;
  }
}

const Form kRmsnormF16{"rmsnorm_f16", DType::f16, false, false, rmsnorm<float>, rmsnorm<double>};
const Form kF32[] = {{"row_sum_f32", DType::f32, true, true, row_sum<float>, row_sum<double>},
                     {"softmax_f32", DType::f32, false, false, softmax<float>, softmax<double>},
                     {"layernorm_f32", DType::f32, false, false, layernorm<float>, layernorm<double>},
                     {"cross_entropy_f32", DType::f32, true, false, cross_entropy<float>, cross_entropy<double>}};
std::string name_of_form(const testing::TestParamInfo<Form>& form) { return form.param.name; }

INSTANTIATE_TEST_SUITE_P(F16, Honest, testing::Values(kRmsnormF16), name_of_form);
INSTANTIATE_TEST_SUITE_P(F32, Honest, testing::ValuesIn(kF32), name_of_form);
INSTANTIATE_TEST_SUITE_P(F32, HonestInF32, testing::ValuesIn(kF32), name_of_form);

}  // namespace
}  // namespace verifier::comparison
