#include "agent/learning/similarity.h"

#include <gtest/gtest.h>

#include "agent/prompting/prompting_fixture.h"

namespace agent::learning {
namespace {
using prompting::ProblemText;

ProblemText shipped(const std::string& name) {
  return prompting::read_problem_text(prompting::test::shipped_problem(name));
}

TEST(Similarity, OfSourcesIsThatOfTheirTokens) {
  const auto runs = [](const char* source) { return token_runs(source); };
  EXPECT_EQ(likeness(runs("y[i] = x[i] * 2;"), runs("y[i]=x[i] * 3; // twice")), 1);
  EXPECT_EQ(likeness(runs("y[i] = x[i] * 2;"), runs("return;")), 0);
  EXPECT_EQ(likeness({}, {}), 0);
}

TEST(Similarity, AComputationIsTheSameUnderAnotherName) {
  EXPECT_TRUE(same_computation(shipped("softmax_f32"), shipped("softmax_long_f32"))) << "written otherwise";
  ProblemText renamed = shipped("gelu_f32");
  renamed.problem.name = "smooth_f32";
  renamed.problem.cost.flops = core::Expr::parse("9 * N");
  for (size_t at = renamed.reference.find("gelu("); at != std::string::npos; at = renamed.reference.find("gelu(")) {
    renamed.reference.replace(at, 5, "smooth(");
  }
  EXPECT_TRUE(same_computation(shipped("gelu_f32"), renamed));
  const size_t function = renamed.reference.find("erfc(");
  ASSERT_NE(function, std::string::npos);
  renamed.reference.replace(function, 5, "tanh(");
  EXPECT_FALSE(same_computation(shipped("gelu_f32"), renamed));
}

TEST(Similarity, OtherComputationsDiffer) {
  EXPECT_FALSE(same_computation(shipped("softmax_f32"), shipped("layernorm_f32")));
  EXPECT_FALSE(same_computation(shipped("gemm_f16"), shipped("gemm_bf16"))) << "other dtypes";
  EXPECT_FALSE(same_computation(shipped("gelu_f32"), shipped("vector_add_f32")));
  EXPECT_FALSE(same_computation(shipped("row_sum_f32"), shipped("cross_entropy_f32")));
}

ProblemText pytorch(const std::string& body, const std::string& inputs = "32") {
  ProblemText text = shipped("gelu_f32");
  text.problem.files = {{std::string(benchsuite::kPytorchFile), ""}};
  text.reference = "SOURCE = '''\nclass Model(nn.Module):\n  def forward(self, x):\n    \"\"\"Doc.\"\"\"\n    return " +
                   body + "  # it's here\n\ndef get_inputs():\n  return [torch.rand(" + inputs + ")]\n'''\n";
  return text;
}

TEST(Similarity, OfPyTorchIsThatOfItsCalls) {
  ASSERT_TRUE(pytorch("x").problem.pytorch());
  EXPECT_TRUE(same_computation(pytorch("torch.relu(x)"), pytorch("torch.relu( x )", "64, 64")));
  EXPECT_FALSE(same_computation(pytorch("torch.relu(x)"), pytorch("torch.sigmoid(x)")));
  EXPECT_FALSE(same_computation(pytorch("torch.relu(x)"), shipped("gelu_f32")));
}

}  // namespace
}  // namespace agent::learning
