// Kills searches with models at every kind of moment and resumes them: they ask, judge and find the same, and nothing
// is paid twice. Devices and models are simulated; work interrupted by a kill takes its usual time again.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "agent/search/model_proposals.h"
#include "agent/search/recorded_runner.h"
#include "agent/search/simulation_fixture.h"
#include "core/paths.h"

namespace agent::search {
namespace {
using test::SimulatedModel;
using test::SimulatedRunner;

struct Killed {};

// A random number that depends on the name alone: the same before and after a kill.
double drawn(const std::string& name, double least, double most) {
  std::seed_seq seed(name.begin(), name.end());
  std::mt19937_64 chance(seed);
  return std::uniform_real_distribution<double>(least, most)(chance);
}

// A model's reply: a wrong, slow or repeated solution, and sometimes nothing readable.
std::string reply_to(const models::Occasion& occasion) {
  const int64_t n = occasion.number;
  if (n % 7 == 3) return "I would rather talk about the weather.";
  const int64_t number = n % 5 == 4 ? -n : n % 6 == 5 ? 11 : static_cast<int64_t>(drawn(std::to_string(n), 1, 40));
  return "```cuda\n/* kernelwright\n"
         R"({"problem": "gelu_f32", "backends": ["cpu"], "tunables": {"BLOCK": [64, 128], "ITEMS": [1, 2, 4]},)"
         R"x("launches": [{"kernel": "gelu", "grid": ["ceil_div(N, BLOCK * ITEMS)", 1, 1], "block": ["BLOCK", 1, 1],)x"
         R"("args": ["x", "y", "N"]}]})"
         "\n*/\nextern \"C\" __global__ void gelu(const float* x, float* y, int N) { y[" +
         std::to_string(number) + "] = x[0]; }\n```\n";
}

std::optional<double> speed_up_of(const Candidate& candidate) {
  const std::string& source = candidate.builds.solution().source;
  const double number = std::stod(source.substr(source.find("{ y[") + 4));
  if (number < 0) return std::nullopt;
  return 1 + number / 100 + drawn(sandbox::describe(candidate.builds.binding()), 0, 0.05);
}

class WatchedProgress : public test::SilentProgress {
 public:
  std::function<void()> moment = [] {};
  void answered(const ReplyReport&) override { moment(); }
};

// A campaign of one problem that can be killed at the n-th moment and resumed.
class World {
 public:
  World(size_t devices, const ModelSearchSettings& of, SpendingLimits limits = {})
      : settings(of), devices_(devices), limits_(limits) {}

  // nullopt: killed.
  std::optional<SearchResult> lead(int64_t moments, Journal::Purpose purpose = Journal::Purpose::resume) {
    moments_left_ = moments;
    EventLoop event_loop;
    const auto moment = [this] {
      if (--moments_left_ == 0) throw Killed();
    };
    const auto takes = [this](double least, double most) {
      return [this, least, most](const std::string& name) {
        return ends_.emplace(name, time_.now() + drawn(name, least, most)).first->second - time_.now();
      };
    };
    const auto reply = [&](const models::Occasion& occasion, const models::Prompt&) {
      moment();
      models::Completion completion;
      completion.text = reply_to(occasion);
      completion.usage = {100, 1000, 0, 500, false};
      return models::Answer(completion);
    };
    SimulatedModel model(time_, 0, 1, reply), second(time_, 0, 1, reply);
    second.called = "simulated:second";
    for (SimulatedModel* one : {&model, &second}) {
      one->moment = moment;
      one->seconds = takes(1, 6);
      one->keeps = models_keep_requests;
    }
    std::vector<models::Model*> models{&model};
    if (two_models) models.push_back(&second);
    WatchedProgress progress;
    progress.moment = moment;
    SimulatedRunner runner(time_, event_loop, started, devices_, speed_up_of);
    runner.moment = moment;
    runner.seconds = takes(0.2, 0.8);
    std::optional<SearchResult> result;
    try {
      result = search(purpose, runner, models, progress, event_loop);
    } catch (const Killed&) {
    }
    asked += model.asked + second.asked;
    time_.clear();
    return result;
  }

  // Everything that was decided: requests with their reasons and prompts, what replies brought, attempts, in order.
  std::string decisions() const {
    std::ostringstream text;
    std::map<std::string, std::string> requests;
    for (const auto& record : started.archive.requests_of_campaign(started.campaign)) {
      const std::string key = "request " + std::to_string(record.request.number);
      std::string& line = requests[key];
      if (record.reply) {
        EXPECT_EQ(line.find("brought"), std::string::npos) << key << " was paid for twice";
        line =
            record.request.model + " " + record.request.proposal.dump() + " " + record.request.prompt_hash + " brought";
        for (const int64_t solution : record.solutions) line += " " + std::to_string(solution);
      }
    }
    std::set<std::string> asked_before;
    for (const results::archive::StepRecord& step : started.archive.steps_of_campaign(started.campaign)) {
      if (step.kind == results::archive::StepRecord::Kind::attempt) {
        const results::archive::RecordedAttempt a = started.archive.attempt(step.id);
        text << a.effort << " " << a.solution << " " << sandbox::describe(a.binding) << " against " << a.against
             << "\n";
      } else if (step.kind == results::archive::StepRecord::Kind::reply) {
        text << "reply to " << number_of(step.id) << "\n";
      } else if (step.kind == results::archive::StepRecord::Kind::request) {
        const std::string key = "request " + number_of(step.id);
        if (asked_before.insert(key).second) text << key << " " << requests[key] << "\n";
      }
    }
    return text.str();
  }

  const results::archive::test::TemporaryArchive temporary;
  results::archive::test::Started started{temporary.file(), "gelu_f32"};
  ModelSearchSettings settings;
  bool two_models = false, models_keep_requests = false;
  int64_t asked = 0;
  std::vector<std::string> divergences;

  int64_t moments_taken(int64_t given) const { return given - moments_left_; }

 private:
  std::string number_of(int64_t request) const {
    for (const auto& record : started.archive.requests_of_campaign(started.campaign)) {
      if (record.id == request) return std::to_string(record.request.number);
    }
    return "?";
  }

  SearchResult search(Journal::Purpose purpose, SimulatedRunner& runner, const std::vector<models::Model*>& models,
                      Progress& progress, EventLoop& event_loop) {
    Journal journal(started.archive, started.campaign, purpose);
    journal.on_divergence([&](const Divergence& divergence) { divergences.emplace_back(divergence.what()); });
    Budget whole({90, std::nullopt}, 0, 0, &journal);
    BudgetShare budget(whole, text_.problem.name);
    journal.on_finish([&] { whole.charge_attempts(journal.attempts_left()); });
    SearchEvents events(journal);
    RecordedRunner recorded(started.archive, events, budget, text_.problem, devices_);
    if (!journal.replays()) recorded.attach(runner);
    NewProgress new_progress(progress, journal);
    RequestLedger ledger(started.archive, started.campaign, models, prices_, {}, limits_, event_loop, journal);
    ProblemSearch problem_search(text_.problem, recorded, budget, new_progress, 1);
    ModelProposals proposals(text_, device_, maker_, ledger, problem_search, started.archive, new_progress, settings, 1,
                             "test-");
    if (!journal.recalls()) journal.finish();
    return problem_search.run(&proposals);
  }

  const size_t devices_;
  const SpendingLimits limits_;
  test::VirtualTime time_;
  std::map<std::string, double> ends_;  // end times of started work
  int64_t moments_left_ = 0;
  const prompting::PromptMaker maker_{core::installed_paths().prompts()};
  const models::Prices prices_ = models::Prices::load(core::installed_paths().prompts() / "prices.json", "2026-11-21");
  const prompting::ProblemText text_ = prompting::read_problem_text(prompting::test::shipped_problem("gelu_f32"));
  const prompting::DeviceText device_{"cpu", {}, {}, {}, {}, {}, {}, {}, {}, {}};
};

constexpr int64_t kNever = 1'000'000;

ModelSearchSettings settings_for(const std::string& strategy) {
  ModelSearchSettings settings;
  settings.strategy = strategy;
  settings.in_flight = 3;
  settings.tuner = {2, 0.97, 0};
  return settings;
}

class Resumed : public testing::TestWithParam<const char*> {};

TEST_P(Resumed, DecidesAsIfItHadNotBeenKilled) {
  const ModelSearchSettings settings = settings_for(GetParam());
  World whole(2, settings);
  const std::optional<SearchResult> end = whole.lead(kNever);
  ASSERT_TRUE(end);
  const std::string decisions = whole.decisions();
  const int64_t moments = whole.moments_taken(kNever);
  ASSERT_GT(moments, 200);
  EXPECT_GT(whole.asked, 10);
  for (int64_t at = 1; at <= moments; at += moments / 24) {
    World world(2, settings);
    ASSERT_FALSE(world.lead(at)) << at;
    const std::optional<SearchResult> resumed = world.lead(kNever);
    ASSERT_TRUE(resumed) << at;
    EXPECT_EQ(world.decisions(), decisions) << "killed at moment " << at;
    EXPECT_EQ(resumed->best, end->best);
    EXPECT_EQ(resumed->why, end->why);
    EXPECT_LE(world.asked, whole.asked + settings.in_flight) << "no more than was on its way is asked again";
    EXPECT_TRUE(world.divergences.empty()) << world.divergences.front();
  }
}

// Each run dies after a few new moments; recorded events take none.
TEST_P(Resumed, ManyKillsChangeNothing) {
  const ModelSearchSettings settings = settings_for(GetParam());
  World whole(2, settings), world(2, settings);
  const std::optional<SearchResult> end = whole.lead(kNever);
  std::optional<SearchResult> resumed;
  int64_t kills = 0;
  for (; !resumed && kills < 1000; ++kills) resumed = world.lead(9 + kills % 5);
  ASSERT_TRUE(resumed);
  EXPECT_GT(kills, 20);
  EXPECT_EQ(world.decisions(), whole.decisions());
  EXPECT_EQ(resumed->best, end->best);
  EXPECT_TRUE(world.divergences.empty()) << world.divergences.front();
}

INSTANTIATE_TEST_SUITE_P(EachStrategy, Resumed, testing::Values("best_of_n", "refine", "evolve"),
                         [](const auto& of) { return std::string(of.param); });

TEST(ResumedModels, AreChosenTheSame) {
  World whole(2, settings_for("evolve")), world(2, settings_for("evolve"));
  whole.two_models = world.two_models = true;
  ASSERT_TRUE(whole.lead(kNever));
  std::optional<SearchResult> resumed;
  for (int64_t kills = 0; !resumed && kills < 1000; ++kills) resumed = world.lead(25 + kills % 5);
  ASSERT_TRUE(resumed);
  EXPECT_EQ(world.decisions(), whole.decisions());
  EXPECT_NE(whole.decisions().find("simulated:second"), std::string::npos);
  EXPECT_NE(whole.decisions().find("\"model_reason\":\"curiosity\""), std::string::npos);
  EXPECT_TRUE(world.lead(kNever, Journal::Purpose::replay));
  EXPECT_TRUE(world.divergences.empty()) << world.divergences.front();
}

TEST(ResumedSpending, LimitsHoldOverKills) {
  const SpendingLimits limits{std::nullopt, 12, std::nullopt};
  World world(2, settings_for("best_of_n"), limits);
  std::optional<SearchResult> end;
  for (int64_t kills = 0; !end && kills < 1000; ++kills) end = world.lead(15 + kills % 5);
  ASSERT_TRUE(end);
  EXPECT_LE(world.asked, 12);
  EXPECT_LE(world.started.archive.model_spend(world.started.campaign).requests, 12);
  EXPECT_TRUE(world.divergences.empty()) << world.divergences.front();
}

TEST(ResumedSpending, AnInboxIsPaidForEachLetterOnce) {
  const SpendingLimits limits{std::nullopt, 12, std::nullopt};
  World whole(2, settings_for("refine"), limits), world(2, settings_for("refine"), limits);
  whole.models_keep_requests = world.models_keep_requests = true;
  ASSERT_TRUE(whole.lead(kNever));
  std::optional<SearchResult> end;
  for (int64_t kills = 0; !end && kills < 1000; ++kills) end = world.lead(15 + kills % 5);
  ASSERT_TRUE(end);
  EXPECT_GT(world.asked, 12);  // the letters were written again, for the same requests
  EXPECT_EQ(world.started.archive.requests_of_campaign(world.started.campaign).size(), 12u);
  EXPECT_EQ(world.decisions(), whole.decisions());
  EXPECT_TRUE(world.lead(kNever, Journal::Purpose::replay));
  EXPECT_TRUE(world.divergences.empty()) << world.divergences.front();
}

// No attempt or request is paid twice. (A default point may be judged in full twice: as a probe, and by the sweep.)
void expect_nothing_twice(const World& world) {
  std::map<std::string, int> attempts;
  std::set<int64_t> answered;
  for (const int64_t id : world.started.archive.attempts_of_campaign(world.started.campaign)) {
    const results::archive::RecordedAttempt a = world.started.archive.attempt(id);
    const std::string what = a.effort + " " + a.solution + " " + sandbox::describe(a.binding) + " " + a.against;
    EXPECT_LE(++attempts[what], a.effort == "full" ? 2 : 1) << what;
  }
  for (const auto& record : world.started.archive.requests_of_campaign(world.started.campaign)) {
    if (record.reply) {
      EXPECT_TRUE(answered.insert(record.request.number).second) << record.request.number;
    }
  }
}

TEST(ResumedOtherwise, FittingRecordsAreUsed) {
  World world(2, settings_for("evolve"));
  ASSERT_FALSE(world.lead(150));
  world.settings.strategy = "refine";  // simulates a changed program
  ASSERT_TRUE(world.lead(kNever));
  EXPECT_EQ(world.divergences.size(), 1u);
  expect_nothing_twice(world);
  EXPECT_LE(world.started.archive.attempts_of_campaign(world.started.campaign).size(), 90u);
}

TEST(ResumedOtherwise, AnEarlierVersionKeptNoOrder) {
  World world(2, settings_for("refine"));
  ASSERT_FALSE(world.lead(150));
  results::archive::test::forget_order(world.temporary.file());
  ASSERT_TRUE(world.lead(kNever));
  EXPECT_TRUE(world.divergences.empty());
  expect_nothing_twice(world);
  EXPECT_LE(world.started.archive.attempts_of_campaign(world.started.campaign).size(), 90u);
}

TEST(ResumedOtherwise, AnEarlierVersionKeptNoAdvice) {
  World world(2, settings_for("refine"));
  ASSERT_FALSE(world.lead(150));
  ASSERT_NE(world.decisions().find("\"limit\""), std::string::npos);
  results::archive::test::forget_advice(world.temporary.file());
  ASSERT_TRUE(world.lead(kNever));
  EXPECT_TRUE(world.divergences.empty());
  expect_nothing_twice(world);
}

TEST(Replay, TellsTheFirstDecisionThatDiffers) {
  World world(2, settings_for("evolve"));
  const std::optional<SearchResult> end = world.lead(kNever);
  const int64_t asked = world.asked;
  const std::optional<SearchResult> again = world.lead(kNever, Journal::Purpose::replay);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->best, end->best);
  EXPECT_EQ(again->why, end->why);
  EXPECT_EQ(world.asked, asked);
  world.settings.strategy = "best_of_n";
  EXPECT_THROW(world.lead(kNever, Journal::Purpose::replay), Divergence);
}

TEST(Replay, OfAKilledCampaignEndsWithItsRecord) {
  World world(2, settings_for("refine"));
  ASSERT_FALSE(world.lead(150));
  EXPECT_THROW(world.lead(kNever, Journal::Purpose::replay), RecordEnded);
}

}  // namespace
}  // namespace agent::search
