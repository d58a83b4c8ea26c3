#include "agent/learning/card_choice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "agent/learning/lessons.h"
#include "results/archive/archive_fixture.h"

namespace agent::learning {
namespace {
std::vector<prompting::Card> cards_named(const std::vector<std::string>& names) {
  std::vector<prompting::Card> cards;
  for (const std::string& name : names) cards.emplace_back().name = name;
  return cards;
}

std::string best_of(const std::map<std::string, double>& worths) {
  return std::ranges::max_element(worths, {}, [](const auto& worth) { return worth.second; })->first;
}

TEST(CardChoice, PrefersCardsThatWinAndStillTriesTheOthers) {
  const std::vector<prompting::Card> cards = cards_named({"bad", "good", "poor"});
  CardChoice choice;
  EXPECT_EQ(choice.worths(cards).at("bad"), choice.worths(cards).at("good")) << "nothing is known";
  std::map<std::string, int> shown;
  for (int prompt = 0; prompt < 300; ++prompt) {
    const std::string card = best_of(choice.worths(cards));
    const int times = ++shown[card];
    choice.sent({card});
    if (times % 10 < (card == "good" ? 6 : card == "poor" ? 2 : 0)) choice.won({card});
  }
  EXPECT_GT(shown["good"], 200);
  EXPECT_GT(shown["poor"], shown["bad"]);
  EXPECT_GE(shown["bad"], 3);
}

TEST(CardChoice, BeginsWithTheRecordOfEarlierCampaigns) {
  const std::vector<prompting::Card> cards = cards_named({"known", "loser", "new"});
  const CardChoice choice({{"known", {20, 12}}, {"loser", {20, 0}}});
  EXPECT_GT(choice.worths(cards).at("known"), choice.worths(cards).at("loser"));
  EXPECT_GT(choice.worths(cards).at("new"), choice.worths(cards).at("known")) << "it was never tried";
}

TEST(Lessons, AreRecordedAsTheyWere) {
  const results::archive::test::TemporaryArchive temporary;
  const results::archive::Recorder archive(temporary.file());
  const Lessons lessons{std::nullopt,
                        {{"coalescing", {7, 3}}, {"shared_tile", {1, 0}}},
                        {{"a:model", {5, 0.25, 9000, 0.5}}, {"exec:./b", {1, 0, 100, std::nullopt}}}};
  const Lessons again = lessons_from_json(to_json(lessons), archive);
  EXPECT_EQ(to_json(again), to_json(lessons));
  EXPECT_EQ(again.cards.at("coalescing").won, 3);
  EXPECT_TRUE(lessons_from_json(to_json(Lessons()), archive).cards.empty());
}

}  // namespace
}  // namespace agent::learning
