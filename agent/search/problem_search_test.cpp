// The end of a search's budget, on simulated devices.
#include "agent/search/problem_search.h"

#include <gtest/gtest.h>

#include "agent/search/recorded_runner.h"
#include "agent/search/simulation_fixture.h"

namespace agent::search {
namespace {

class SearchEnd : public testing::Test {
 protected:
  // A search of one shipped solution, whose share is six attempts: too few for a judgement in full.
  SearchResult search(int64_t attempts, test::SimulatedRunner::SpeedUp speed_up, bool confirms_screened = true) {
    test::SimulatedRunner runner(time_, event_loop_, started_, 1, std::move(speed_up));
    Journal journal(started_.archive, started_.campaign);
    Budget whole({attempts, std::nullopt}, 0, 0);
    BudgetShare share(whole, problem_.name, {6, std::nullopt});
    SearchEvents events(journal);
    RecordedRunner recorded(started_.archive, events, share, problem_, 1);
    recorded.attach(runner);
    ProblemSearch searching(problem_, recorded, share, progress_, 1, confirms_screened);
    std::vector<NamedSolution> shipped;
    shipped.push_back({prompting::test::shipped_solution("gelu_f32/float4_items.cu"), "float4_items", "seed"});
    searching.add({std::move(shipped), {}, false, {}, {}});
    const SearchResult result = searching.run();
    made_ = whole.attempts();
    return result;
  }

  test::VirtualTime time_;
  EventLoop event_loop_;
  test::SilentProgress progress_;
  const benchsuite::Problem problem_ = prompting::test::shipped_problem("gelu_f32");
  const results::archive::test::TemporaryArchive temporary_;
  results::archive::test::Started started_{temporary_.file(), "gelu_f32"};
  int64_t made_ = 0;
};

// One of five screened points is the fastest.
double by_number(const Candidate& candidate) { return 2 + static_cast<double>(candidate.id % 5) / 10; }

TEST_F(SearchEnd, ConfirmsTheFastestScreenedPoint) {
  const SearchResult result = search(100, by_number);
  EXPECT_EQ(result.why, "its share of the attempts is used up");
  EXPECT_EQ(made_, 7);
  EXPECT_DOUBLE_EQ(result.best, 2.4);
}

TEST_F(SearchEnd, TriesThreeOfThemAtMost) {
  std::map<int64_t, int> seen;
  const auto wrong_at_last = [&](const Candidate& candidate) -> std::optional<double> {
    if (seen[candidate.id]++ > 0) return std::nullopt;
    return by_number(candidate);
  };
  EXPECT_EQ(search(100, wrong_at_last).best, 1);
  EXPECT_EQ(made_, 9);
}

TEST_F(SearchEnd, ConfirmsNothingSlowerThanNaiveAndNothingBeyondTheWholeBudget) {
  EXPECT_EQ(search(100, [](const Candidate&) { return 0.5; }).best, 1);
  EXPECT_EQ(made_, 6);
  EXPECT_EQ(search(6, by_number).best, 1);
  EXPECT_EQ(made_, 6);
}

TEST_F(SearchEnd, OfEarlierVersionsIsKept) {
  EXPECT_EQ(search(100, by_number, false).best, 1);
  EXPECT_EQ(made_, 6);
}

}  // namespace
}  // namespace agent::search
