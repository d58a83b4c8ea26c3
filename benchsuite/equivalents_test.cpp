#include "benchsuite/equivalents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace benchsuite {
namespace {
using core::Json;
using testing::HasSubstr;

const char* const kProduct = R"({
  "name": "product", "title": "Product", "description": "c = a b",
  "axes": {"M": {"description": "rows", "min": 1, "max": 64}, "N": {"description": "columns", "min": 1, "max": 64}},
  "inputs": {"a": {"dtype": "f32", "shape": ["M", 8], "init": {"kind": "normal", "scale": 1}},
             "b": {"dtype": "f32", "shape": [8, "N"], "init": {"kind": "normal", "scale": 1}}},
  "outputs": {"c": {"dtype": "f32", "shape": ["M", "N"]}},
  "contract": {"accumulate": "f32"},
  "cost": {"flops": "M * N", "bytes_read": "4 * M * N", "bytes_written": "4 * M * N"},
  "workloads": [{"name": "small", "role": "test", "axes": {"M": 3, "N": 8}},
                {"name": "large", "role": "bench", "axes": {"M": 64, "N": 16}}]
})";

Problem with(const Json& equivalents) {
  Json json = Json::parse(kProduct);
  json["equivalents"] = equivalents;
  return parse_problem(json.dump(), "p.json");
}
std::string refusal(const Json& equivalents) {
  try {
    with(equivalents);
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "accepted";
}
std::string refusal_of(const std::string& expression) { return refusal({{"pytorch", expression}}); }

TEST(Equivalents, AreOptional) {
  const Problem without = parse_problem(kProduct, "p.json");
  EXPECT_EQ(without.equivalents.pytorch, "");
  EXPECT_TRUE(without.equivalents.gemm.empty());
  const Problem problem = with({{"pytorch", "a @ b"}, {"cublas", {{"gemm", {"a", "b", "c"}}}}});
  EXPECT_EQ(problem.equivalents.pytorch, "a @ b");
  EXPECT_THAT(problem.equivalents.gemm, testing::ElementsAre("a", "b", "c"));
}

TEST(Equivalents, MayNameScalars) {
  Json json = Json::parse(kProduct);
  json["scalars"]["eps"] = {{"dtype", "f32"}, {"value", 1e-5}};
  json["equivalents"] = {{"pytorch", "a @ b + eps"}};
  EXPECT_EQ(parse_problem(json.dump(), "p.json").equivalents.pytorch, "a @ b + eps");
}

TEST(Equivalents, ChecksTheLineOfPython) {
  for (const char* fine : {"torch.softmax(a, dim=1)", "F.layer_norm(a, (N,), b, None, 1e-5)", "(a + b, a.t()[:, 1:])",
                           "F.cross_entropy(a, b.long(), reduction = 'none (x')", "a.sum( dim = 1 )", "2.5e-3 * a"}) {
    EXPECT_EQ(refusal_of(fine), "accepted") << fine;
  }
  EXPECT_THAT(refusal_of("torhc.softmax(a)"), HasSubstr("p.json#/equivalents/pytorch: \"torhc\" is neither an input"));
  EXPECT_THAT(refusal_of("torhc.softmax(a)"), HasSubstr("did you mean \"torch\"?"));
  EXPECT_THAT(refusal_of("numpy.sum(a)"), HasSubstr("known names: torch, F, True, False, None, M, N, a, b"));
  EXPECT_THAT(refusal_of("a @ c"), HasSubstr("\"c\" is neither an input, an axis nor a scalar"));
  EXPECT_THAT(refusal_of("a == x"), HasSubstr("\"x\" is neither an input"));
  EXPECT_THAT(refusal_of("a.__class__"), HasSubstr("two underscores"));
  EXPECT_THAT(refusal_of("a; b"), HasSubstr("holds ';'"));
  EXPECT_THAT(refusal_of("a\nb"), HasSubstr("begin with \"def equivalent(\""));
  EXPECT_THAT(refusal_of("torch.sum(a]"), HasSubstr("brackets"));
  EXPECT_THAT(refusal_of("torch.sum(a"), HasSubstr("brackets"));
  EXPECT_THAT(refusal_of("'a"), HasSubstr("unterminated quote"));
  EXPECT_THAT(refusal_of(""), HasSubstr("one line of at most 300"));
  EXPECT_THAT(refusal_of(std::string(301, 'a')), HasSubstr("one line of at most 300"));
}

TEST(Equivalents, MayBeAFunction) {
  const Json lines{"def equivalent(a, b, N):", "    scale = 1 / N",  "    c, rest = a @ b, {'x': 0}",
                   "    for i in range(2):",   "        c *= scale", "    return {'c': c}"};
  const Problem problem = with({{"pytorch", lines}});
  EXPECT_THAT(problem.equivalents.parameters, testing::ElementsAre("a", "b", "N"));
  EXPECT_EQ(problem.equivalents.call(), "equivalent(a, b, N)");
  EXPECT_THAT(problem.equivalents.definition(), testing::EndsWith("        c *= scale\n    return {'c': c}\n"));
  EXPECT_EQ(with({{"pytorch", problem.equivalents.pytorch}}).equivalents.definition(),
            problem.equivalents.definition());
  EXPECT_EQ(with({{"pytorch", "a @ b"}}).equivalents.definition(), "");
  EXPECT_EQ(with({{"pytorch", "a @ b"}}).equivalents.call(), "a @ b");
}

TEST(Equivalents, ChecksTheFunction) {
  const auto function = [](const std::string& head, const std::string& body) {
    return refusal({{"pytorch", {head, "    " + body}}});
  };
  const std::string head = "def equivalent(a, b):";
  EXPECT_EQ(function(head, "return a @ b if a.dim() != 0 and not b is None else b"), "accepted");
  EXPECT_THAT(function("def other(a):", "return a"), HasSubstr("begin with \"def equivalent(\""));
  EXPECT_THAT(function("def equivalent(a) -> a:", "return a"), HasSubstr("begin with"));
  EXPECT_THAT(function("def equivalent():", "return 1"), HasSubstr("has no parameters"));
  EXPECT_THAT(function("def equivalent(a, a):", "return 1"), HasSubstr("two parameters \"a\""));
  EXPECT_THAT(function("def equivalent(a, c):", "return c"),
              HasSubstr("parameter \"c\" is neither an input, an axis nor a scalar"));
  EXPECT_THAT(function("def equivalent(a=open):", "return a"), HasSubstr("parameter \"a=open\""));
  EXPECT_THAT(function(head, "return a @ c"), HasSubstr("\"c\" is neither an input, an axis nor a scalar"));
  EXPECT_THAT(function(head, "return a * N"), HasSubstr("\"N\" is neither")) << "an axis that it does not take";
  EXPECT_THAT(function(head, "import os"), HasSubstr("\"import\" is neither"));
  EXPECT_THAT(function(head, "x = open('y')"), HasSubstr("\"open\" is neither"));
  EXPECT_THAT(function(head, "x = a.__class__"), HasSubstr("two underscores"));
  EXPECT_THAT(function(head, "return a # comment"), HasSubstr("holds '#'"));
  EXPECT_THAT(function(head, "return {a: (b}"), HasSubstr("brackets"));
  EXPECT_THAT(function(head, "return '" + std::string(4000, 'x') + "'"), HasSubstr("longer than 4000"));
}

TEST(Equivalents, AMatrixProductHasTheShapesOfOne) {
  const auto gemm = [](const Json& names) { return refusal({{"cublas", {{"gemm", names}}}}); };
  EXPECT_EQ(gemm({"a", "b", "c"}), "accepted");
  EXPECT_THAT(gemm({"b", "a", "c"}), HasSubstr("do not form a matrix product (workload small)"));
  EXPECT_THAT(gemm({"a", "b"}), HasSubstr("two inputs and the only output"));
  EXPECT_THAT(gemm({"a", "b", "b"}), HasSubstr("\"b\" is not one of the outputs"));
  EXPECT_THAT(refusal({{"cublas", {{"axpy", 1}}}}), HasSubstr("unknown field \"axpy\""));
  EXPECT_THAT(refusal({{"jax", "a"}}), HasSubstr("unknown field \"jax\""));
}

}  // namespace
}  // namespace benchsuite
