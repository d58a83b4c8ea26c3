// Campaigns of many problems on several lanes. Devices are simulated, on a clock that jumps from event to event.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <ctime>
#include <iostream>
#include <map>

#include "agent/campaign/device_text.h"
#include "agent/campaign/lanes.h"
#include "agent/search/simulation_fixture.h"
#include "core/text.h"

namespace agent::campaign {
namespace {
using search::test::SimulatedRunner;
using search::test::VirtualTime;

struct Killed {};

// A number that depends on the name alone.
double drawn(const std::string& name, double least, double most) {
  std::seed_seq seed(name.begin(), name.end());
  std::mt19937_64 chance(seed);
  return std::uniform_real_distribution<double>(least, most)(chance);
}

class SimulatedLanes : public Lanes {
 public:
  SimulatedLanes(VirtualTime& time, results::archive::test::Started& started, size_t count,
                 const std::function<void()>& moment)
      : time_(time) {
    for (size_t i = 0; i < count; ++i) {
      SimulatedRunner& runner = runners_.emplace_back(time, event_loop_, started, 1, [](const search::Candidate& one) {
        return std::optional(1 + drawn(std::to_string(one.id), 0, 0.5));
      });
      runner.moment = moment;
    }
  }
  size_t count() const override { return runners_.size(); }
  search::AttemptRunner& runner(size_t lane) override { return runners_[lane]; }
  SimulatedRunner& simulated(size_t lane) { return runners_[lane]; }
  void begin_problem(size_t lane, const benchsuite::Problem& problem) override {
    runners_[lane].use_problem(problem);
    last_begin = time_.now();
    busy_at_last_begin = 0;
    for (const SimulatedRunner& runner : runners_) busy_at_last_begin += runner.busy_seconds;
  }
  search::EventLoop& event_loop() override { return event_loop_; }
  std::optional<std::string> why_not(const sandbox::Solution&) const override { return std::nullopt; }
  prompting::DeviceText device_text() const override {
    prompting::DeviceText text;
    text.backend = "cpu";
    return text;
  }
  void look_closer() override {}
  void on_trouble(const std::function<void(const std::string&)>&) override {}

  double last_begin = 0, busy_at_last_begin = 0;  // seconds; of all devices

 private:
  VirtualTime& time_;
  search::EventLoop event_loop_;
  std::deque<SimulatedRunner> runners_;
};

class ReportingLanes : public SimulatedLanes {
 public:
  using SimulatedLanes::SimulatedLanes;
  ~ReportingLanes() override { at_end(*this); }
  std::function<void(const SimulatedLanes&)> at_end;
};

// A campaign of copies of one problem, each with the shipped solution of it.
class SideBySide : public testing::Test {
 protected:
  results::archive::CampaignRecord start(size_t count, std::optional<int64_t> attempts = std::nullopt,
                                         const std::vector<std::string>& proposers = {}) {
    const benchsuite::Problem& shipped = prompting::test::shipped_problem("gelu_f32");
    const std::string source = core::read_file(core::installed_paths().kernels() / "gelu_f32" / "float4_items.cu");
    CampaignSettings settings;
    for (size_t i = 0; i < count; ++i) {
      const std::string name = "gelu_" + std::to_string(i);
      benchsuite::Problem& problem = problems_[name] = shipped;
      problem.name = name;
      settings.problems.push_back(name);
      std::string renamed = source;
      renamed.replace(renamed.find("gelu_f32"), std::string("gelu_f32").size(), name);
      const sandbox::Solution solution = sandbox::parse_solution(renamed, "float4_items");
      started_.archive.add_solution({&solution, "float4_items", "user", {}});
      settings.solutions.push_back(solution.hash());
    }
    settings.budget.attempts = attempts;
    settings.seed = 5;
    settings.proposers = proposers;
    if (!proposers.empty()) settings.patience = 4;  // the tuner fills the time until the first reply
    settings.models = {"best_of_n", 2, 2, 4, 1'000'000, {6, 0.97, 0}};
    return started_.archive.start_campaign(to_json(settings), started_.environment);
  }

  // The simulated seconds that it takes on so many lanes. `moments`: it is killed then.
  double run(const results::archive::CampaignRecord& campaign, size_t lanes, int64_t moments = INT64_MAX) {
    started_.campaign = campaign.id;
    VirtualTime time;
    const auto moment = [&moments] {
      if (--moments == 0) throw Killed();
    };
    search::test::SilentProgress progress;
    std::vector<models::Model*> models;
    std::optional<search::test::SimulatedModel> model;
    if (reply_) models.push_back(&model.emplace(time, 18, 22, reply_));
    end_ = run_campaign(started_.archive, campaign, core::installed_paths(), problems_, progress, models, [&] {
      auto simulated = std::make_unique<ReportingLanes>(time, started_, lanes, moment);
      simulated->at_end = [this, lanes](const SimulatedLanes& one) {
        busy_ = one.busy_at_last_begin / (one.last_begin * static_cast<double>(lanes));
      };
      for (size_t lane = 0; lane < lanes; ++lane) simulated->simulated(lane).seconds = judged_in_;
      return simulated;
    });
    EXPECT_TRUE(progress.warnings.empty()) << progress.warnings.front();
    if (model) most_in_flight_ = model->most_in_flight;
    return time.now();
  }

  // The attempts of each problem's search, in order, without anything that depends on other problems.
  std::map<std::string, std::vector<std::string>> attempts(const results::archive::CampaignRecord& campaign) const {
    std::map<std::string, std::vector<std::string>> by_problem;
    for (const int64_t id : started_.archive.attempts_of_campaign(campaign.id)) {
      const results::archive::RecordedAttempt a = started_.archive.attempt(id);
      by_problem[a.problem].push_back(a.effort + " " + a.solution + " " + sandbox::describe(a.binding) + " against " +
                                      a.against);
    }
    return by_problem;
  }

  const results::archive::test::TemporaryArchive temporary_;
  results::archive::test::Started started_{temporary_.file(), "gelu_f32"};
  std::map<std::string, benchsuite::Problem> problems_;
  CampaignEnd end_;
  std::function<double(const std::string&)> judged_in_ = [](const std::string& name) { return drawn(name, 0.2, 0.8); };
  search::test::SimulatedModel::Reply reply_;  // none: no model is asked
  int64_t most_in_flight_ = 0;                 // requests
  double busy_ = 0;                            // share of the devices' time, until the last problem began
};

TEST_F(SideBySide, TwoLanesTakeHalfTheTimeAndEightAnEighth) {
  const auto one = start(40), two = start(40), eight = start(40);
  const double seconds = run(one, 1);
  EXPECT_GT(seconds, 100);
  EXPECT_LE(run(two, 2), 0.52 * seconds);
  EXPECT_LE(run(eight, 8), 0.14 * seconds);
  EXPECT_EQ(attempts(one), attempts(two));
  EXPECT_EQ(attempts(one), attempts(eight));
}

// Attempts in flight count whole. With 768 problems (2026-11-25, two busy cores): 27,814 attempts in 63.5 s, 22 s of a
// processor, 40 MiB.
TEST_F(SideBySide, AClusterStaysBusyAndItsCoordinatorIdle) {
  const auto campaign = start(320);
  const std::clock_t begin = std::clock();
  const double seconds = run(campaign, 256);
  const double processor = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  std::cout << end_.attempts << " attempts in " << seconds << " s, " << 100 * busy_ << " % busy, " << processor
            << " s of a processor, " << use.ru_maxrss / 1024 << " MiB\n";
  EXPECT_GT(busy_, 0.95);
  EXPECT_LT(processor, seconds);
  EXPECT_LT(use.ru_maxrss, 500 * 1024);
}

// Four solutions in a reply, of twelve points each.
models::Answer four_solutions(const models::Occasion& occasion, const models::Prompt&) {
  models::Completion completion;
  completion.model = "simulated";
  completion.usage = {100, 1000, 0, 500, false};
  for (int i = 0; i < 4; ++i) {
    const std::string number = std::to_string(4 * occasion.number + i);
    completion.text +=
        "```cuda\n/* kernelwright\n{\"problem\": \"" + occasion.problem + "\", \"backends\": [\"cpu\"], " +
        R"("tunables": {"BLOCK": [64, 128, 256], "ITEMS": [1, 2, 4, 8]}, "launches": [{"kernel": "gelu", )" +
        R"x("grid": ["ceil_div(N, BLOCK * ITEMS)", 1, 1], "block": ["BLOCK", 1, 1], )x" +
        "\"args\": [\"x\", \"y\", \"N\"]}]}\n*/\nextern \"C\" __global__ void gelu(const float* x, float* " +
        "y, int N) { y[" + number + "] = x[0]; }\n```\n";
  }
  return completion;
}

// Judging takes 0.3 s and a reply 20 s. The tuner has work for 11 s of a search, and after the first reply the device
// is always busy.
TEST_F(SideBySide, RepliesKeepAClusterBusy) {
  constexpr size_t kLanes = 8;
  reply_ = four_solutions;
  judged_in_ = [](const std::string& name) { return drawn(name, 0.2, 0.4); };
  const auto campaign = start(2 * kLanes, 1200 * kLanes, {"simulated:model"});
  const std::clock_t begin = std::clock();
  const double seconds = run(campaign, kLanes);
  const double processor = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::cout << end_.attempts << " attempts in " << seconds << " s, " << 100 * busy_ << " % busy, " << most_in_flight_
            << " requests in flight, " << processor << " s of a processor\n";
  EXPECT_GT(busy_, 0.95);
  EXPECT_GE(most_in_flight_, 2 * kLanes);  // those of ended searches are still under way
  EXPECT_LT(processor, seconds);
}

TEST_F(SideBySide, SharesOfTheAttemptsAreAlike) {
  const auto campaign = start(8, 80);
  run(campaign, 3);
  const auto by_problem = attempts(campaign);
  EXPECT_EQ(by_problem.size(), 8u);
  for (const auto& [problem, made] : by_problem) {
    EXPECT_GE(made.size(), 6u) << problem;
    EXPECT_LE(made.size(), 14u) << problem;  // confirmations may pass the share
  }
  EXPECT_LE(end_.attempts, 80);
}

TEST_F(SideBySide, AKilledCampaignDecidesTheSameWhenItIsResumed) {
  const auto whole = start(5);
  run(whole, 3);
  const auto wanted = attempts(whole);
  for (const int64_t at : {1, 7, 40, 111, 222, 300}) {
    const auto campaign = start(5);
    EXPECT_THROW(run(campaign, 3, at), Killed) << at;
    EXPECT_THROW(run(campaign, 3, 25), Killed) << at;
    run(campaign, 3);
    EXPECT_EQ(attempts(campaign), wanted) << "killed at moment " << at;
    EXPECT_FALSE(end_.interrupted);
  }
}

TEST_F(SideBySide, ACampaignIsResumedOnFewerOrMoreLanes) {
  const auto whole = start(5);
  run(whole, 2);
  for (const size_t lanes : {1, 4}) {
    const auto campaign = start(5);
    EXPECT_THROW(run(campaign, 3, 100), Killed);
    run(campaign, lanes);
    EXPECT_EQ(attempts(campaign), attempts(whole)) << lanes;
  }
}

TEST_F(SideBySide, IsReplayed) {
  const auto campaign = start(5);
  run(campaign, 3);
  search::test::SilentProgress progress;
  const Replayed replayed = replay_campaign(started_.archive, campaign, core::installed_paths(), problems_, progress);
  EXPECT_FALSE(replayed.divergence) << replayed.divergence->what();
  EXPECT_TRUE(replayed.ended);
  EXPECT_GT(replayed.steps, 100);
}

}  // namespace
}  // namespace agent::campaign
