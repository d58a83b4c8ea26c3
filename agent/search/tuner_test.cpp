#include "agent/search/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace agent::search {
namespace {
using verifier::verdicts::Effort;

sandbox::Solution solution(const std::string& tunables, const std::string& constraints = "[]") {
  return sandbox::parse_header(R"({"problem": "p", "tunables": )" + tunables + R"(, "constraints": )" + constraints +
                                   R"(, "launches": [{"kernel": "k", "grid": [1], "block": [1], "args": []}]})",
                               "test.cu");
}

struct Outcome {
  int screened = 0, full = 0;
  Point best;
  double best_speed_up = 0;
  std::set<Point> seen;
};

// Runs the search to its end over a known landscape.
Outcome search(Tuner& tuner, const std::function<std::optional<double>(const Point&)>& speed_up) {
  Outcome outcome;
  while (const std::optional<Batch> batch = tuner.next()) {
    for (const Point& point : batch->points) {
      const std::optional<double> value = speed_up(point);
      (batch->effort == Effort::screen ? outcome.screened : outcome.full)++;
      if (batch->effort == Effort::screen) {
        EXPECT_TRUE(outcome.seen.insert(point).second) << "screened twice";
      }
      if (batch->effort == Effort::full && value && *value > outcome.best_speed_up) {
        outcome.best = point;
        outcome.best_speed_up = *value;
      }
      tuner.report(point, batch->effort, value);
    }
  }
  return outcome;
}

constexpr const char* kGrid =
    R"({"AA": [1,2,4,8,16,32,64,128], "BB": [1,2,4,8,16,32,64,128], "CC": [1,2,3,4,5,6,7,8]})";

double hill(const Point& point) {
  double distance = 0;
  for (const auto& [name, value] : point.binding) distance += std::abs(std::log2(static_cast<double>(value)) - 2);
  return 10 - distance;
}

TEST(Tuner, ClimbsToTheTopOfAHillForAFractionOfTheSpace) {
  const sandbox::Solution s = solution(kGrid);
  Tuner tuner({&s}, 1);
  EXPECT_EQ(tuner.space_size(), 512);
  const Outcome outcome = search(tuner, hill);
  EXPECT_EQ(sandbox::describe(outcome.best.binding), "AA=4 BB=4 CC=4");
  EXPECT_LT(outcome.screened, 120);
  EXPECT_LT(outcome.full, outcome.screened);
  EXPECT_THAT(tuner.why_stopped(), testing::HasSubstr("converged"));
}

TEST(Tuner, EveryPointSatisfiesTheConstraints) {
  const sandbox::Solution s = solution(kGrid, R"(["AA * BB <= 64", "CC % 2 == 1"])");
  Tuner tuner({&s}, 2);
  const Outcome outcome = search(tuner, hill);
  for (const Point& point : outcome.seen) {
    EXPECT_LE(point.binding.at("AA") * point.binding.at("BB"), 64);
    EXPECT_EQ(point.binding.at("CC") % 2, 1);
  }
}

TEST(Tuner, TheSameSeedGivesTheSameSearch) {
  const sandbox::Solution s = solution(kGrid);
  Tuner first({&s}, 7), second({&s}, 7);
  EXPECT_EQ(search(first, hill).seen, search(second, hill).seen);
}

TEST(Tuner, SmallSpacesAreTriedWhole) {
  const sandbox::Solution s = solution(R"({"AA": [1, 2, 3]})");
  Tuner tuner({&s}, 1);
  EXPECT_EQ(search(tuner, hill).screened, 3);
  EXPECT_EQ(tuner.why_stopped(), "every point was tried");
}

TEST(Tuner, SearchesOnWhenNothingIsCorrectAndThenSaysSo) {
  const sandbox::Solution s = solution(R"({"AA": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]})");
  Tuner tuner({&s}, 1);
  EXPECT_EQ(search(tuner, [](const Point&) { return std::nullopt; }).screened, 16);
  EXPECT_THAT(tuner.why_stopped(), testing::HasSubstr("none was correct"));
}

TEST(Tuner, ComparesSolutionsWithOneAnother) {
  const sandbox::Solution slow = solution(R"({"AA": [1, 2]})"), fast = solution(R"({"AA": [1, 2]})");
  Tuner tuner({&slow, &fast}, 1);
  const Outcome outcome = search(
      tuner, [](const Point& p) { return p.solution == 1 ? 2.0 + static_cast<double>(p.binding.at("AA")) : 1.0; });
  EXPECT_EQ(outcome.best.solution, 1u);
  EXPECT_EQ(outcome.best.binding.at("AA"), 2);
}

}  // namespace
}  // namespace agent::search
