#include "agent/prompting/cards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "agent/models/model.h"
#include "agent/prompting/prompting_fixture.h"
#include "benchsuite/catalogue.h"
#include "core/error.h"

namespace agent::prompting {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using enum Bottleneck;

const std::vector<Card>& shipped() {
  static const std::vector<Card> cards = load_cards(core::installed_paths().prompts() / "techniques");
  return cards;
}

std::vector<std::string> chosen(const CardWish& wish, size_t most = 2) {
  std::vector<std::string> names;
  for (const Card* card : choose_cards(shipped(), wish, most)) names.push_back(card->name);
  return names;
}

TEST(Cards, ThoseThatShipAreShortAndHelpEachBottleneck) {
  std::set<Bottleneck> helped;
  for (const Card& card : shipped()) {
    EXPECT_LT(models::estimate_tokens(card.text), 3200) << card.name;
    EXPECT_LT(card.title.size(), 60u) << card.name;
    helped.insert(card.helps.begin(), card.helps.end());
  }
  EXPECT_EQ(helped.size(), core::enum_names<Bottleneck>().size());
}

TEST(Cards, EveryShippedProblemHasOneOnEachDevice) {
  for (const auto& [name, problem] : benchsuite::load_problems(core::installed_paths().problems())) {
    const std::set<std::string> traits = traits_of(read_problem_text(problem));
    EXPECT_FALSE(traits.empty()) << name;
    EXPECT_FALSE(chosen({"cpu", "", traits, {}, {}}).empty()) << name;
    EXPECT_EQ(chosen({"cuda", "sm_80", traits, {}, {}}).size(), 2u) << name;
  }
}

TEST(Cards, AreChosenByBottleneckArchitectureBackendAndProblem) {
  EXPECT_THAT(chosen({"cuda", "sm_90a", {"gemm", "narrow_product"}, {tensor_cores, compute_bound}, {}}, 1),
              ElementsAre("tma_wgmma"));
  EXPECT_THAT(chosen({"cuda", "sm_80", {"gemm", "narrow_product"}, {tensor_cores, compute_bound}, {}}, 1),
              ElementsAre("tensor_cores_wmma"));
  EXPECT_THAT(chosen({"cuda", "sm_100a", {"gemm", "narrow_product"}, {tensor_cores}, {}}),
              ElementsAre("tensor_cores_mma", "tensor_cores_wmma"));  // wgmma exists on sm_90a alone
  EXPECT_THAT(chosen({"cuda", "sm_90a", {"transpose"}, {bank_conflicts}, {}}, 1), ElementsAre("shared_tile"));
  EXPECT_THAT(chosen({"cuda", "sm_90a", {"reduction"}, {launch_bound}, {}}, 1), ElementsAre("last_block"));
  EXPECT_THAT(chosen({"cuda", "sm_90a", {"row_reduction", "selection"}, {}, {}}, 1), ElementsAre("radix_select"));
  EXPECT_THAT(chosen({"cuda", "sm_90a", {"attention", "cached_attention"}, {}, {}}, 1), ElementsAre("paged_gather"));
  EXPECT_THAT(chosen({"cuda", "sm_80", {"gemm", "convolution"}, {}, {}}, 1), ElementsAre("implicit_gemm"));
  EXPECT_THAT(chosen({"cuda", "sm_90a", {"attention"}, {tensor_cores}, {}}, 1), ElementsAre("attention_turns"));
  EXPECT_THAT(chosen({"cpu", "", {"gemm"}, {compute_bound}, {}}, 1), ElementsAre("cpu_register_tile"));
  EXPECT_THAT(chosen({"cpu", "", {"row_reduction"}, {barriers}, {}}, 1), ElementsAre("cpu_vector_loops"));
  for (const std::string& kind : trait_names()) {  // cards about GPUs do not help here
    for (const std::string& card : chosen({"cpu", "", {kind}, {}, {}}, 9)) EXPECT_EQ(card.rfind("cpu_", 0), 0u) << card;
  }
  EXPECT_THAT(chosen({"cpu", "", {"row_reduction"}, {tensor_cores}, {}}), IsEmpty());
  EXPECT_THAT(chosen({"hip", "", {"row_reduction"}, {barriers}, {}}, 1), ElementsAre("hip_wavefronts"));
  EXPECT_THAT(chosen({"hip", "", {"gemm"}, {tensor_cores}, {}}, 1), ElementsAre("hip_matrix_cores"));
  EXPECT_THAT(chosen({"cuda", "sm_90a", {"row_reduction"}, {barriers}, {}}, 9),
              testing::Not(testing::Contains("hip_wavefronts")));
}

TEST(Cards, ThoseForRareTraitsComeFirst) {
  const auto card = [](const std::string& name, const std::string& problems) {
    return parse_card("---\ntitle: A\nhelps: spills\narch: any\nbackends: cuda\nproblems: " + problems +
                          "\n---\n\nText.\n```cuda\ncode\n```\n",
                      name + ".md");
  };
  const std::vector<Card> cards{card("a", "any"), card("b", "row_reduction"), card("c", "selection"),
                                card("d", "cached_attention")};
  const auto names = [&](const std::set<std::string>& traits) {
    std::vector<std::string> chosen;
    for (const Card* one : choose_cards(cards, {"cuda", "sm_90a", traits, {}, {}}, 9)) chosen.push_back(one->name);
    return chosen;
  };
  EXPECT_THAT(names({"row_reduction", "selection"}), ElementsAre("c", "b", "a"));
  EXPECT_THAT(names({"row_reduction"}), ElementsAre("b", "a"));
}

TEST(Cards, UnseenCardsComeFirst) {
  const CardWish wish{"cuda", "sm_90a", {"gemm"}, {tensor_cores, compute_bound}, {}};
  CardWish again = wish;
  again.seen = {chosen(wish, 1)[0]};
  EXPECT_NE(chosen(again, 1), chosen(wish, 1));
  EXPECT_EQ(chosen(again, 1), chosen(again, 1));
}

TEST(Cards, OfThoseThatFitEquallyTheMostWorthComesFirst) {
  const auto card = [](const std::string& name, const std::string& helps) {
    return parse_card("---\ntitle: A\nhelps: " + helps +
                          "\narch: any\nbackends: cuda\nproblems: any\n---\n\nText.\n```cuda\ncode\n```\n",
                      name + ".md");
  };
  const std::vector<Card> cards{card("a", "spills"), card("b", "spills"), card("c", "spills"),
                                card("d", "barriers, spills")};
  CardWish wish{"cuda", "sm_90a", {"gemm"}, {spills}, {}};
  const auto names = [&](size_t most) {
    std::vector<std::string> chosen;
    for (const Card* one : choose_cards(cards, wish, most)) chosen.push_back(one->name);
    return chosen;
  };
  EXPECT_THAT(names(9), ElementsAre("a", "b", "c", "d"));
  wish.worths = {{"b", 0.4}, {"c", 0.9}, {"d", 5}};
  EXPECT_THAT(names(9), ElementsAre("c", "b", "a", "d")) << "d fits less well, whatever its worth";
}

TEST(Cards, TraitsOfProblems) {
  const auto traits = [](const char* name) { return traits_of(read_problem_text(test::shipped_problem(name))); };
  EXPECT_THAT(traits("gelu_f32"), testing::UnorderedElementsAre("elementwise", "transcendental"));
  EXPECT_THAT(traits("softmax_f32"), testing::UnorderedElementsAre("row_reduction", "transcendental"));
  EXPECT_THAT(traits("rmsnorm_f16"), testing::UnorderedElementsAre("row_reduction", "narrow"));
  EXPECT_THAT(traits("row_sum_f32"), testing::UnorderedElementsAre("row_reduction", "reduction"));
  EXPECT_THAT(traits("cross_entropy_f32"),
              testing::UnorderedElementsAre("row_reduction", "reduction", "transcendental"));
  EXPECT_THAT(traits("sum_f32"), testing::UnorderedElementsAre("reduction"));
  EXPECT_THAT(traits("transpose_f32"), testing::UnorderedElementsAre("transpose"));
  EXPECT_THAT(traits("gemm_f16"), testing::UnorderedElementsAre("gemm", "narrow", "narrow_product"));
  EXPECT_THAT(traits("gemm_f32"), testing::UnorderedElementsAre("gemm", "wide_product"));
  EXPECT_THAT(traits("histogram_i32"), testing::UnorderedElementsAre("histogram"));
  EXPECT_THAT(traits("topk_f32"), testing::UnorderedElementsAre("row_reduction", "selection"));
  EXPECT_THAT(traits("argmax_i32"), testing::UnorderedElementsAre("row_reduction", "reduction"));
  EXPECT_THAT(traits("conv2d_bf16"), testing::IsSupersetOf({"gemm", "convolution", "narrow_product"}));
  EXPECT_THAT(traits("depthwise_conv1d_f32"), testing::Not(testing::Contains("convolution")));
  EXPECT_THAT(traits("decode_bf16"), testing::IsSupersetOf({"attention", "cached_attention", "narrow_product"}));
  EXPECT_THAT(traits("attention_bf16"), testing::Not(testing::Contains("cached_attention")));
}

constexpr const char* kCard = R"(---
title: A card
helps: memory_bound, spills
arch: sm_80
backends: cuda
problems: gemm
---

Text.
```cuda
code
```
)";

std::string error_with(const std::string& from, const std::string& to) {
  std::string text = kCard;
  text.replace(text.find(from), from.size(), to);
  try {
    parse_card(text, "techniques/c.md");
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Cards, AreReadStrictly) {
  const Card card = parse_card(kCard, "techniques/c.md");
  EXPECT_EQ(card.name, "c");
  EXPECT_EQ(card.text, "Text.\n```cuda\ncode\n```\n");
  EXPECT_EQ(card.fragment, "code\n");
  EXPECT_THAT(card.helps, ElementsAre(memory_bound, spills));
  EXPECT_THAT(error_with("spills", "spils"), HasSubstr("techniques/c.md:3: \"spils\" is not known"));
  EXPECT_THAT(error_with("spills", "spils"), HasSubstr("did you mean \"spills\"?"));
  EXPECT_THAT(error_with("problems: gemm", "problems: gem"), HasSubstr("c.md:6: \"gem\" is not known"));
  EXPECT_THAT(error_with("sm_80", "sm_x"), HasSubstr("c.md:4: \"sm_x\" is not an architecture"));
  EXPECT_THAT(error_with("backends: cuda", "backends: gpu"), HasSubstr("c.md:5: \"gpu\" is not a backend"));
  EXPECT_THAT(error_with("arch: sm_80\n", ""), HasSubstr("does not say \"arch\""));
  EXPECT_THAT(error_with("arch: sm_80\n", "arch: any\nodd: 1\n"), HasSubstr("says \"odd\", which no card has"));
  EXPECT_THAT(error_with("---\n\n", "\n"), HasSubstr("has no \"name: value\" here"));
  EXPECT_THAT(error_with("code\n```\n", "code\n"), HasSubstr("exactly one fenced block"));
}

}  // namespace
}  // namespace agent::prompting
