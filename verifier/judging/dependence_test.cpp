// Problems that ask for nothing are found, with the tensor; others are left alone.
#include "verifier/judging/dependence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "verifier/draws/elements.h"

namespace verifier::judging {
namespace {
using core::DType;
using testing::HasSubstr;

// y[i] = f(a[i], b[i], i, N) of [N]; y of `dtype`.
using Formula = std::function<double(double a, double b, size_t i, size_t n)>;

std::optional<Independence> look(const Formula& f, DType dtype = DType::f32, const std::string& init = "normal") {
  const std::string drawn =
      init == "normal" ? R"({"kind": "normal", "scale": 1})" : R"({"kind": "uniform", "low": 8, "high": 8.01})";
  const benchsuite::Problem problem = benchsuite::parse_problem(
      R"({"name": "p_f32", "title": "t", "description": "d", "axes": {"N": {"description": "n", "min": 1, "max": 9999}},
      "inputs": {"a": {"dtype": "f32", "shape": ["N"], "init": )" +
          drawn + R"(},
                 "b": {"dtype": "f32", "shape": ["N"], "init": )" +
          drawn + R"(}},
      "outputs": {"y": {"dtype": ")" +
          std::string(core::name_of(dtype)) + R"(", "shape": ["N"]}},
      "contract": {"accumulate": "f32"}, "cost": {"flops": "N", "bytes_read": "8 * N", "bytes_written": "4 * N"},
      "workloads": [{"name": "one", "role": "test", "axes": {"N": 1}}, {"name": "some", "role": "test", "axes": {"N": 97}},
                    {"name": "more", "role": "test", "axes": {"N": 1024}},
                    {"name": "bench", "role": "bench", "axes": {"N": 99}}]})",
      "p");
  const auto draw = [&](const benchsuite::Workload& workload, statistics::Keys& keys) {
    TensorBytes inputs;
    for (const benchsuite::Tensor& tensor : problem.inputs) {
      draws::fill_input(inputs.emplace_back(static_cast<size_t>(tensor.bytes(workload.axes))), tensor, workload.axes,
                        draws::Distribution::ordinary, keys.next());
    }
    return inputs;
  };
  return find_independence(problem, "cpu", 1, draw, [&](const core::Bindings& axes, const TensorBytes& inputs) {
    const auto n = static_cast<size_t>(axes.at("N"));
    TrustedOutputs outputs{{std::vector<std::byte>(n * 8)}, {std::vector<std::byte>(n * core::size_bytes(dtype))}};
    if (!core::is_floating(dtype)) outputs.reference[0].resize(n * core::size_bytes(dtype));
    for (size_t i = 0; i < n; ++i) {
      const double y =
          f(draws::load_element(DType::f32, inputs[0], i), draws::load_element(DType::f32, inputs[1], i), i, n);
      draws::store_element(core::is_floating(dtype) ? DType::f64 : dtype, outputs.reference[0], i, y);
      draws::store_element(dtype, outputs.naive[0], i, y);
    }
    return outputs;
  });
}

TEST(Dependence, HonestProblemsAreLeftAlone) {
  EXPECT_FALSE(look([](double a, double b, size_t, size_t) { return a + b; }));
  EXPECT_FALSE(look([](double a, double b, size_t, size_t) { return a + b; }, DType::f16));
  EXPECT_FALSE(look([](double a, double b, size_t, size_t) { return a > b ? 1 : 0; }, DType::i32));
  // Nothing depends on anything at the smallest shape, as in a softmax of one element.
  EXPECT_FALSE(look([](double a, double b, size_t i, size_t) { return i == 0 ? 1 : a * b; }));
  EXPECT_FALSE(look([](double a, double b, size_t, size_t) { return a + b; }, DType::f32, "narrow"));
}

// As a bias before a long attention: at the small test shapes it is beneath the tolerance.
TEST(Dependence, AnInputMayMatterAtTimedShapesAlone) {
  EXPECT_FALSE(look([](double a, double b, size_t, size_t n) { return a + (n == 99 ? b : 0); }));
  EXPECT_TRUE(look([](double a, double b, size_t, size_t n) { return a + (n == 97 ? b : 0); }));
}

TEST(Dependence, ConstantsAreFound) {
  const auto constant = look([](double, double, size_t i, size_t) { return static_cast<double>(i); });
  ASSERT_TRUE(constant);
  EXPECT_THAT(constant->problem, HasSubstr("output \"y\" hardly depends on the inputs"));
  EXPECT_TRUE(look([](double, double, size_t, size_t) { return 3; }, DType::i32));
  EXPECT_TRUE(look([](double a, double b, size_t, size_t) { return 1 + 1e-8 * a * b; }));
  // Drawn so narrowly that f16 cannot tell.
  EXPECT_TRUE(look([](double a, double b, size_t, size_t) { return a + b; }, DType::f16, "narrow"));
}

TEST(Dependence, InputsThatDoNotMatterAreFound) {
  const auto unused = look([](double a, double, size_t, size_t) { return a; });
  ASSERT_TRUE(unused);
  EXPECT_THAT(unused->problem, HasSubstr("no output depends on the input \"b\""));
  EXPECT_THAT(unused->remedy, HasSubstr("leave this input out"));
  const auto tiny = look([](double a, double b, size_t, size_t) { return a * 1e-9 + b; });
  ASSERT_TRUE(tiny);
  EXPECT_THAT(tiny->problem, HasSubstr("the input \"a\""));
}

}  // namespace
}  // namespace verifier::judging
