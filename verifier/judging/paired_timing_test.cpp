// When timing ends, what it audits, and what it makes of what a device brings: against contests whose times are chosen.
#include "verifier/judging/paired_timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/paths.h"
#include "verifier/statistics/statistics.h"

namespace verifier::judging {
namespace {
using benchsuite::Problem;

// Times and outputs as a test wants them.
struct Script {
  double candidate_us = 100, incumbent_us = 100, jitter = 0.001;
  bool warm = false;
  size_t slots = 1;
  static constexpr int kAlways = -2;
  int leaves_out_launch = -1;  // whose output in one slot differs from the incumbent's
  size_t leaves_out_slot = 0;
  int launches = 0, audits = 0, fails_at = -1;
  int surprises = 0;             // launches on other inputs than ordinary ones
  bool takes_short_cut = false;  // which only ordinary inputs allow
};

class ScriptedContest : public PairedLaunches {
 public:
  explicit ScriptedContest(Script& script) : script_(script) {}

  bool warm() const override { return script_.warm; }
  void draw(uint64_t key, draws::Distribution distribution) override {
    keys_ = statistics::Keys(key);
    surprise_ = !draws::is_disguise(distribution);
  }
  std::variant<TimingSample, ProcessFailure> launch(Side side, uint64_t) override {
    const bool candidate = side == Side::candidate;
    if (surprise_) return script_.surprises++, TimingSample{1e3};
    if (candidate && script_.launches++ == script_.fails_at) return ProcessFailure(ProcessDied{});
    const double us = candidate ? script_.candidate_us : script_.incumbent_us;
    return TimingSample{us * (1 + script_.jitter * (keys_.unit() - 0.5))};
  }
  size_t slots() const override { return script_.slots; }
  std::vector<double> differences() override {
    std::vector<double> apart;
    for (size_t slot = 0; slot < script_.slots; ++slot) {
      apart.push_back(left_out(slot) ? 1e6 : 1e-7 * (1 + keys_.unit() / 2));
    }
    return apart;
  }
  std::optional<verdicts::Verdict> audit(const verdicts::Where& where, size_t slot) override {
    if (surprise_ && !script_.takes_short_cut) return std::nullopt;
    ++script_.audits;
    if (left_out(slot) || surprise_) return verdicts::WrongResult{where, "y", 0, 1, 0, 100, 1, 1};
    return std::nullopt;
  }

 private:
  bool left_out(size_t slot) const {
    const bool always = script_.leaves_out_launch == Script::kAlways;
    return slot == script_.leaves_out_slot && (always || script_.launches - 1 == script_.leaves_out_launch);
  }

  Script& script_;
  statistics::Keys keys_{1};
  bool surprise_ = false;
};

class TimingOfScripts : public testing::Test {
 protected:
  std::variant<verdicts::Verdict, std::optional<verdicts::Measurement>> time(verdicts::Effort effort) {
    statistics::Keys keys(7);
    PairedTiming timing(problem_, "cpu", "test", settings_, effort, keys);
    return timing.measure([&](const benchsuite::Workload&) { return std::make_unique<ScriptedContest>(script_); });
  }
  verdicts::WorkloadTiming timed(verdicts::Effort effort) {
    auto measured = time(effort);
    return std::get<std::optional<verdicts::Measurement>>(measured).value().workloads.at(0);
  }

  const Problem problem_ = benchsuite::load_problem(core::installed_paths().problems() / "gelu_f32");
  verdicts::TimingSettings settings_;
  Script script_;
};

TEST_F(TimingOfScripts, AColdFirstPairIsNotCounted) {
  const size_t pairs = timed(verdicts::Effort::confirm).pairs.size();
  EXPECT_EQ(static_cast<size_t>(script_.launches), pairs + 1);
  script_.launches = 0;
  script_.warm = true;
  const size_t all = timed(verdicts::Effort::confirm).pairs.size();
  EXPECT_EQ(static_cast<size_t>(script_.launches), all);
}

TEST_F(TimingOfScripts, WorkloadsCountByTheirWeight) {
  Problem problem = problem_;
  std::erase_if(problem.workloads, [](const benchsuite::Workload& w) { return w.role == benchsuite::Role::bench; });
  problem.workloads.push_back({"often", benchsuite::Role::bench, {{"N", 100}}, {}, 3});
  problem.workloads.push_back({"seldom", benchsuite::Role::bench, {{"N", 200}}, {}});
  statistics::Keys keys(7);
  PairedTiming timing(problem, "cpu", "test", settings_, verdicts::Effort::full, keys);
  Script fast;
  fast.candidate_us = 25;
  const auto measured = timing.measure([&](const benchsuite::Workload& workload) {
    return std::make_unique<ScriptedContest>(workload.name == "often" ? fast : script_);
  });
  const verdicts::Measurement m = std::get<std::optional<verdicts::Measurement>>(measured).value();
  EXPECT_EQ(m.workloads.at(0).weight, 3);
  EXPECT_EQ(m.workloads.at(1).weight, 1);
  EXPECT_NEAR(m.speed_up.value, std::pow(4, 0.75), 0.01);  // 4 times as fast at three of four
  const core::Json json = to_json(m);
  EXPECT_EQ(verdicts::measurement_from_json(core::JsonView(json, "m")).workloads.at(0).weight, 3);
  EXPECT_FALSE(json["workloads"][1].contains("weight"));  // as it always was
}

TEST_F(TimingOfScripts, SteadyTimesEndAtTheLeastNumberOfPairs) {
  const verdicts::WorkloadTiming timing = timed(verdicts::Effort::full);
  EXPECT_EQ(timing.pairs.size(), static_cast<size_t>(settings_.least_pairs));
  EXPECT_NEAR(timing.speed_up.value, 1, 0.001);
}

TEST_F(TimingOfScripts, ClearCasesEndEarlyEitherWayButAreConfirmedInFull) {
  for (const double factor : {0.5, 2.0}) {
    script_.candidate_us = 100 * factor;
    EXPECT_EQ(timed(verdicts::Effort::full).pairs.size(), static_cast<size_t>(settings_.clear_pairs)) << factor;
    EXPECT_GE(timed(verdicts::Effort::confirm).pairs.size(), static_cast<size_t>(settings_.least_pairs)) << factor;
  }
}

TEST_F(TimingOfScripts, AConfirmationFarAheadOfSlowLaunchesTakesNinePairs) {
  settings_.most_s = 0;  // any launch is slow
  script_.candidate_us = 25;
  EXPECT_EQ(timed(verdicts::Effort::confirm).pairs.size(), 9u);
  script_.candidate_us = 60;
  EXPECT_GE(timed(verdicts::Effort::confirm).pairs.size(), static_cast<size_t>(settings_.least_pairs));
}

TEST_F(TimingOfScripts, NoisyTimesGoOnToTheMostPairs) {
  script_.jitter = 0.3;
  EXPECT_EQ(timed(verdicts::Effort::full).pairs.size(), static_cast<size_t>(settings_.most_pairs));
}

TEST_F(TimingOfScripts, AtLeastTheAskedShareIsAudited) {
  script_.jitter = 0.3;
  const verdicts::WorkloadTiming timing = timed(verdicts::Effort::full);
  EXPECT_GE(script_.audits, settings_.audit_share * static_cast<double>(timing.pairs.size()));
  EXPECT_LT(script_.audits, static_cast<int>(timing.pairs.size()) / 2);  // and not nearly all
}

TEST_F(TimingOfScripts, ASingleLaunchThatLeavesWorkOutIsFound) {
  for (int launch = 0; launch < settings_.least_pairs; ++launch) {
    script_ = {};
    script_.leaves_out_launch = launch;
    const auto measured = time(verdicts::Effort::full);
    ASSERT_TRUE(std::holds_alternative<verdicts::Verdict>(measured)) << launch;
    EXPECT_EQ(name_of(std::get<verdicts::Verdict>(measured)), "wrong_result") << launch;
  }
}

TEST_F(TimingOfScripts, WorkLeftOutInOneSlotOfABatchIsFound) {
  for (size_t slot = 0; slot < 12; ++slot) {
    for (const int launch : {Script::kAlways, 0, 5}) {
      script_ = {};
      script_.slots = 12;
      script_.leaves_out_slot = slot;
      script_.leaves_out_launch = launch;
      const auto measured = time(verdicts::Effort::full);
      ASSERT_TRUE(std::holds_alternative<verdicts::Verdict>(measured)) << slot << " " << launch;
      EXPECT_EQ(name_of(std::get<verdicts::Verdict>(measured)), "wrong_result");
    }
  }
}

TEST_F(TimingOfScripts, AShortCutThatOrdinaryInputsAllowIsFoundAtTheTimedShape) {
  timed(verdicts::Effort::full);
  EXPECT_EQ(script_.surprises, 0);
  timed(verdicts::Effort::confirm);
  const auto adversarial = draws::adversarial_for(problem_);
  const auto all =
      static_cast<int>(adversarial.size() -
                       static_cast<size_t>(std::count_if(adversarial.begin(), adversarial.end(), draws::is_disguise)));
  EXPECT_EQ(script_.surprises, all);
  timed(verdicts::Effort::control);
  EXPECT_EQ(script_.surprises, all);
  script_.takes_short_cut = true;
  const auto measured = time(verdicts::Effort::confirm);
  ASSERT_TRUE(std::holds_alternative<verdicts::Verdict>(measured));
  const verdicts::Where& where = std::get<verdicts::WrongResult>(std::get<verdicts::Verdict>(measured)).where;
  EXPECT_TRUE(where.distribution != "ordinary" && where.distribution != "patchwork") << where.distribution;
}

TEST_F(TimingOfScripts, ACandidateThatDiesIsAVerdict) {
  script_.fails_at = 3;
  const auto measured = time(verdicts::Effort::full);
  ASSERT_TRUE(std::holds_alternative<verdicts::Verdict>(measured));
  EXPECT_EQ(name_of(std::get<verdicts::Verdict>(measured)), "crashed");
}

TEST_F(TimingOfScripts, SmallDifferencesAtTheLaunchFloorAreNone) {
  script_.candidate_us = 1.50;
  script_.incumbent_us = 1.58;  // five percent, and less than a tenth of a microsecond
  EXPECT_EQ(decide(timed(verdicts::Effort::confirm).speed_up), statistics::Outcome::tie);
  script_.incumbent_us = 1.90;
  EXPECT_EQ(decide(timed(verdicts::Effort::confirm).speed_up), statistics::Outcome::win);
  script_.candidate_us = 150;
  script_.incumbent_us = 158;  // the same share where it means something
  EXPECT_EQ(decide(timed(verdicts::Effort::confirm).speed_up), statistics::Outcome::win);
}

}  // namespace
}  // namespace verifier::judging
