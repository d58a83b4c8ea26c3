#include "agent/search/strategy.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/error.h"

namespace agent::search {
namespace {

Member member(int line, std::optional<double> speed_up, const std::string& niche = "",
              std::vector<size_t> parents = {}) {
  Member made;
  made.line = line;
  made.niche = niche;
  made.parents = std::move(parents);
  Attempt attempt;
  attempt.verdict = verifier::verdicts::Correct{};
  made.probe = JudgedPoint{{}, attempt, speed_up};
  if (speed_up) made.best = made.probe;
  return made;
}

TEST(Bandit, TriesEachArmThenPrefersTheBestGainPerCost) {
  Bandit bandit(3);
  const double gains[] = {0.01, 0.2, 0.2}, costs[] = {1, 1, 4};
  std::map<size_t, int> chosen;
  for (int i = 0; i < 200; ++i) {
    const size_t arm = bandit.choose();
    ++chosen[arm];
    bandit.learn(arm, gains[arm], costs[arm]);
  }
  EXPECT_GT(chosen[1], 100);
  EXPECT_GE(chosen[0], 2);
  EXPECT_GE(chosen[2], 2);
  EXPECT_EQ(Bandit(3).choose({false, false, true}), 2u);
}

TEST(Strategies, AnUnknownNameIsAnError) { EXPECT_THROW(make_strategy("anneal", {}), core::InputError); }

TEST(Refine, RepairsWrongAndImprovesBestSolutionsOneAtATime) {
  const auto refine = make_strategy("refine", {1, 1});
  Population population;
  const Inquiry first = refine->next(population).value();
  EXPECT_EQ(first.task, prompting::Operator::fresh);
  EXPECT_FALSE(refine->next(population)) << "its line waits";
  const size_t wrong = population.add(member(0, std::nullopt));
  refine->learned(first, population, {{wrong}, 0, 1});
  for (int repairs = 0; repairs < 2; ++repairs) {
    const Inquiry repair = refine->next(population).value();
    EXPECT_EQ(repair.task, prompting::Operator::repair);
    EXPECT_EQ(repair.parents, std::vector<size_t>{population.size() - 1});
    refine->learned(repair, population, {{population.add(member(0, std::nullopt))}, 0, 1});
  }
  const Inquiry fresh = refine->next(population).value();
  EXPECT_EQ(fresh.task, prompting::Operator::fresh) << "given up";
  const size_t right = population.add(member(0, 1.5));
  refine->learned(fresh, population, {{right}, 0.4, 1});
  const Inquiry improve = refine->next(population).value();
  EXPECT_EQ(improve.task, prompting::Operator::improve);
  EXPECT_EQ(improve.parents, std::vector<size_t>{right});
}

TEST(Evolve, UsesEveryTaskAndEveryIsland) {
  const auto evolve = make_strategy("evolve", {1, 3});
  Population population;
  population.add(member(kEveryLine, 2.0, "vector/memory_bound"));
  std::map<prompting::Operator, int> tasks;
  std::set<int> islands;
  for (int i = 0; i < 120; ++i) {
    const Inquiry inquiry = evolve->next(population).value();
    ++tasks[inquiry.task];
    islands.insert(inquiry.line);
    EXPECT_EQ(inquiry.parents.size(), inquiry.task == prompting::Operator::fresh   ? 0u
                                      : inquiry.task == prompting::Operator::cross ? 2u
                                                                                   : 1u);
    if (inquiry.task == prompting::Operator::cross) {
      EXPECT_NE(inquiry.parents[0], inquiry.parents[1]);
    }
    if (inquiry.task == prompting::Operator::repair) {
      EXPECT_FALSE(population[inquiry.parents[0]].correct());
    }
    const std::optional<double> speed_up = i % 4 == 0 ? std::nullopt : std::optional(1.0 + i / 100.0);
    const size_t made =
        population.add(member(inquiry.line, speed_up, i % 2 == 0 ? "warp/" : "shared/", inquiry.parents));
    evolve->learned(inquiry, population, {{made}, i % 3 == 0 ? 0.05 : 0, 1});
  }
  for (const prompting::Operator task : {prompting::Operator::fresh, prompting::Operator::improve,
                                         prompting::Operator::repair, prompting::Operator::cross}) {
    EXPECT_GT(tasks[task], 0) << name_of(task);
  }
  EXPECT_EQ(islands, (std::set<int>{0, 1, 2}));
}

TEST(Evolve, HopelessMembersAreRarelyParentsAndOnlyForTheirStructure) {
  const auto evolve = make_strategy("evolve", {1, 1});
  Population population;
  const size_t best = population.add(member(0, 5.96, "vector/memory_bound"));
  const size_t good = population.add(member(0, 3.0, "vector/compute_bound"));
  const size_t alike = population.add(member(0, 1.07, "vector/latency_bound"));
  const size_t other = population.add(member(0, 1.08, "warp/barriers"));
  std::map<size_t, int> improved, first, second;
  for (int i = 0; i < 400; ++i) {
    const Inquiry inquiry = evolve->next(population).value();
    evolve->learned(inquiry, population, {{}, 0, 1});
    if (inquiry.task == prompting::Operator::improve) ++improved[inquiry.parents[0]];
    if (inquiry.task == prompting::Operator::cross) ++first[inquiry.parents[0]], ++second[inquiry.parents[1]];
  }
  EXPECT_EQ(improved[alike] + improved[other] + first[alike] + first[other] + second[alike], 0);
  EXPECT_GT(improved[best], improved[good]);
  EXPECT_GT(improved[good], 0);
  EXPECT_GT(second[other], 0);
  EXPECT_LT(5 * second[other], first[best] + first[good]);
}

TEST(Evolve, TheSameSeedMakesTheSameChoices) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto one = make_strategy("evolve", {7, 2}), other = make_strategy("evolve", {7, 2});
    Population population;
    for (int i = 0; i < 40; ++i) {
      const Inquiry a = one->next(population).value(), b = other->next(population).value();
      EXPECT_EQ(a.task, b.task);
      EXPECT_EQ(a.parents, b.parents);
      const Yield yield{
          {population.add(member(a.line, 1.0 + (i * 37 % 11) / 10.0, std::to_string(i % 3), a.parents))}, 0.01, 1};
      one->learned(a, population, yield);
      other->learned(b, population, yield);
    }
  }
}

TEST(Population, RanksByLineAndKeepsTheBestOfEachNiche) {
  Population population;
  population.add(member(0, 1.5, "a"));
  population.add(member(0, std::nullopt));
  population.add(member(1, 2.5, "a"));
  population.add(member(0, 2.0, "a"));
  population.add(member(0, 1.2, "b"));
  EXPECT_EQ(population.ranked(), (std::vector<size_t>{2, 3, 0, 4}));
  EXPECT_EQ(population.ranked(0), (std::vector<size_t>{3, 0, 4}));
  EXPECT_EQ(population.elites(0), (std::vector<size_t>{3, 4}));
}

}  // namespace
}  // namespace agent::search
