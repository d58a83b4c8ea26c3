#include "agent/models/model.h"

#include <gtest/gtest.h>

namespace agent::models {
namespace {

TEST(Prompt, ItsHashCoversTheSentText) {
  const Prompt one = {"s", {{Turn::Speaker::user, {{"ab", true}, {"c", false}}}}};
  const Prompt same = {"s", {{Turn::Speaker::user, {{"a", false}, {"bc", true}}}}};
  EXPECT_EQ(one.hash(), same.hash()) << "however it is cut";
  const Prompt others[] = {{"sa", {{Turn::Speaker::user, {{"bc", false}}}}},
                           {"s", {{Turn::Speaker::assistant, {{"abc", false}}}}},
                           {"s", {{Turn::Speaker::user, {{"ab", false}}}, {Turn::Speaker::user, {{"c", false}}}}},
                           {"s", {{Turn::Speaker::user, {{"abd", false}}}}}};
  for (const Prompt& other : others) EXPECT_NE(one.hash(), other.hash());
}

TEST(Prompt, ItsTextNamesSpeakersWhereThereAreSeveral) {
  Prompt prompt = {"System.", {{Turn::Speaker::user, {{"Ask.", false}}}}};
  EXPECT_EQ(prompt.as_text(), "System.\n\nAsk.");
  prompt.turns.push_back({Turn::Speaker::assistant, {{"Try.\n", false}}});
  prompt.turns.push_back({Turn::Speaker::user, {{"Again.", false}}});
  EXPECT_EQ(prompt.as_text(), "System.\n\n=== user ===\nAsk.\n\n=== assistant ===\nTry.\n\n=== user ===\nAgain.");
}

TEST(NoCompletion, EveryCauseHasItsName) {
  for (int i = 0; i <= static_cast<int>(NoCompletion::Cause::cancelled); ++i) {
    const auto cause = static_cast<NoCompletion::Cause>(i);
    EXPECT_EQ(core::enum_from_name<NoCompletion::Cause>(name_of(cause)), cause);
  }
  EXPECT_FALSE(core::enum_from_name<NoCompletion::Cause>("boredom"));
}

TEST(Usage, AddsUp) {
  Usage usage = {1, 2, 3, 4, false};
  usage += {10, 20, 30, 40, true};
  EXPECT_EQ(usage.input, 11);
  EXPECT_EQ(usage.cache_read, 22);
  EXPECT_EQ(usage.cache_written, 33);
  EXPECT_EQ(usage.output, 44);
  EXPECT_TRUE(usage.estimated);
}
}  // namespace
}  // namespace agent::models
