#include "agent/learning/exemplars.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/learning/learning_fixture.h"
#include "agent/prompting/prompt_maker.h"

namespace agent::learning {
namespace {
using prompting::Exemplar;
using testing::HasSubstr;
using testing::Not;

std::optional<Exemplar> chosen(const results::archive::Reader& archive, const std::string& problem,
                               const std::string& backend = "cpu") {
  const prompting::PromptFacts facts = prompting::test::facts_for(problem, backend);
  return choose_exemplar(archive, facts.problem.problem, facts.device, backend);
}

std::string problem_of(const std::optional<Exemplar>& exemplar) { return exemplar ? exemplar->problem : ""; }

TEST(Exemplars, AreWinnersOfOtherProblemsOfTheKind) {
  test::Winners winners;
  EXPECT_FALSE(chosen(winners.archive(), "softmax_f32"));
  winners.add("softmax_f32/lanes_per_row.cu", "cpu", 9);
  winners.add("gelu_f32/float4_items.cu", "cpu", 9);
  EXPECT_FALSE(chosen(winners.archive(), "softmax_f32")) << "its own, and one of another kind";
  winners.add("rmsnorm_f16/lanes_per_row.cu", "cpu", 8);
  EXPECT_EQ(problem_of(chosen(winners.archive(), "softmax_f32")), "rmsnorm_f16");
  winners.add("layernorm_f32/lanes_per_row.cu", "cpu", 2);
  const std::optional<Exemplar> same_dtype = chosen(winners.archive(), "softmax_f32");
  ASSERT_EQ(problem_of(same_dtype), "layernorm_f32");
  EXPECT_EQ(same_dtype->winner.name, "lanes_per_row");
  EXPECT_EQ(same_dtype->winner.time_us, 50);
  EXPECT_EQ(same_dtype->winner.share_of_bound, 0.4);
  EXPECT_EQ(same_dtype->why,
            "layernorm_f32 is of the same kind as your problem (row_reduction), has the same dtypes and was won on the "
            "same device.");
  EXPECT_FALSE(chosen(winners.archive(), "softmax_f32", "cuda")) << "won on another backend";
}

TEST(Exemplars, AreNeverOfTheSameComputation) {
  test::Winners winners;
  winners.add("softmax_f32/lanes_per_row.cu", "cpu", 9);
  EXPECT_FALSE(chosen(winners.archive(), "softmax_long_f32"));
  EXPECT_EQ(problem_of(chosen(winners.archive(), "layernorm_f32")), "softmax_f32");
}

TEST(Exemplars, AreNeverOfAProblemThatACampaignHoldsOut) {
  test::Winners winners;
  winners.add("layernorm_f32/lanes_per_row.cu", "cpu", 2);
  EXPECT_TRUE(chosen(winners.archive(), "softmax_f32"));
  winners.archive().start_campaign({{"problems", {"gelu_f32", "layernorm_f32"}}, {"held_out", true}},
                                   winners.archive().add_environment({}));
  EXPECT_FALSE(chosen(winners.archive(), "softmax_f32"));
}

TEST(Exemplars, RunOnTheDevice) {
  test::Winners winners;
  winners.add("gemm_bf16/persistent_wgmma.cu", "cuda NVIDIA H100 80GB HBM3", 50);
  winners.add("gemm_f32/register_tile.cu", "cuda NVIDIA H200", 5);
  EXPECT_EQ(problem_of(chosen(winners.archive(), "gemm_f16", "cuda")), "gemm_f32") << "of the same device";
  prompting::PromptFacts facts = prompting::test::facts_for("batched_gemm_bf16", "cuda");
  const auto best = choose_exemplar(winners.archive(), facts.problem.problem, facts.device, "cuda");
  ASSERT_EQ(problem_of(best), "gemm_bf16");
  EXPECT_THAT(best->why, HasSubstr("was won on another device of this backend"));
  facts.device.architecture = "sm_80";
  EXPECT_EQ(problem_of(choose_exemplar(winners.archive(), facts.problem.problem, facts.device, "cuda")), "gemm_f32")
      << "wgmma needs sm_90a";
}

TEST(Exemplars, AreRecordedAndShownAsTheyWere) {
  test::Winners winners;
  winners.add("gemm_bf16/persistent_wgmma.cu", "cuda NVIDIA H200", 50);
  prompting::PromptFacts facts = prompting::test::facts_for("batched_gemm_bf16", "cuda");
  facts.exemplar = chosen(winners.archive(), "batched_gemm_bf16", "cuda");
  ASSERT_TRUE(facts.exemplar);
  const prompting::PromptMaker maker(core::installed_paths().prompts());
  const prompting::MadePrompt made = maker.make(facts);
  EXPECT_EQ(made.exemplar, "gemm_bf16");
  const std::string text = made.prompt.as_text();
  EXPECT_THAT(text,
              HasSubstr("# A winner of a similar problem\n\ngemm_bf16 is of the same kind as your problem (gemm)"));
  EXPECT_THAT(text, HasSubstr("on cuda NVIDIA H200: 50.00x over naive [49.00, 51.00]; 2.00 us at bench; 1000 % of the "
                              "bound; at "));
  EXPECT_THAT(text, HasSubstr("#include <kw/")) << "shared headers stay includes";
  const Exemplar again = exemplar_from_json(to_json(*facts.exemplar), winners.archive());
  EXPECT_EQ(to_json(again), to_json(*facts.exemplar));
  facts.exemplar = again;
  EXPECT_EQ(maker.make(facts).prompt.hash(), made.prompt.hash());
}

}  // namespace
}  // namespace agent::learning
