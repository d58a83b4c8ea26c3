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

TEST(Equivalents, ChecksTheLineOfPython) {
  for (const char* fine : {"torch.softmax(a, dim=1)", "F.layer_norm(a, (N,), b, None, 1e-5)", "(a + b, a.t()[:, 1:])",
                           "F.cross_entropy(a, b.long(), reduction = 'none (x')", "a.sum( dim = 1 )", "2.5e-3 * a"}) {
    EXPECT_EQ(refusal_of(fine), "accepted") << fine;
  }
  EXPECT_THAT(refusal_of("torhc.softmax(a)"), HasSubstr("p.json#/equivalents/pytorch: \"torhc\" is neither an input"));
  EXPECT_THAT(refusal_of("torhc.softmax(a)"), HasSubstr("did you mean \"torch\"?"));
  EXPECT_THAT(refusal_of("numpy.sum(a)"), HasSubstr("known names: torch, F, True, False, None, M, N, a, b"));
  EXPECT_THAT(refusal_of("a @ c"), HasSubstr("\"c\" is neither an input nor an axis"));
  EXPECT_THAT(refusal_of("a == x"), HasSubstr("\"x\" is neither an input"));
  EXPECT_THAT(refusal_of("a.__class__"), HasSubstr("two underscores"));
  EXPECT_THAT(refusal_of("a; b"), HasSubstr("holds ';'"));
  EXPECT_THAT(refusal_of("a\nb"), HasSubstr("without statements"));
  EXPECT_THAT(refusal_of("torch.sum(a]"), HasSubstr("brackets"));
  EXPECT_THAT(refusal_of("torch.sum(a"), HasSubstr("brackets"));
  EXPECT_THAT(refusal_of("'a"), HasSubstr("unterminated quote"));
  EXPECT_THAT(refusal_of(""), HasSubstr("one line of at most 300"));
  EXPECT_THAT(refusal_of(std::string(301, 'a')), HasSubstr("one line of at most 300"));
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
