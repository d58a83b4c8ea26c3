// Whole searches on simulated devices and models: results, cost and archive records.
#include "agent/search/model_proposals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <set>

#include "agent/search/recorded_runner.h"
#include "agent/search/simulation_fixture.h"
#include "core/paths.h"
#include "results/archive/archive_fixture.h"
#include "results/archive/exchanges.h"

namespace agent::search {
namespace {
using test::SimulatedModel;
using test::SimulatedRunner;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A solution with a unique number in its code.
std::string numbered(int number) {
  return "```cuda\n/* kernelwright\n"
         R"({"problem": "gelu_f32", "backends": ["cpu"], "tunables": {"BLOCK": [64, 128, 256], "ITEMS": [1, 2, 4, 8]},)"
         R"x("launches": [{"kernel": "gelu", "grid": ["ceil_div(N, BLOCK * ITEMS)", 1, 1], "block": ["BLOCK", 1, 1],)x"
         R"("args": ["x", "y", "N"]}]})"
         "\n*/\nextern \"C\" __global__ void gelu(const float* x, float* y, int N) { y[" +
         std::to_string(number) + "] = x[0]; }\n```\n";
}

// The same number, as the solution's speed-up.
double number_in(const std::string& source) {
  const size_t at = source.find("{ y[") + 4;
  return std::stod(source.substr(at));
}

class Searches : public testing::Test {
 protected:
  SearchResult search(size_t devices, SimulatedModel::Reply reply, const ModelSearchSettings& settings,
                      SpendingLimits limits = {}, BudgetLeft budget = {}) {
    SimulatedModel model(time_, latency_least_s_, latency_most_s_, std::move(reply));
    SimulatedRunner runner(time_, event_loop_, started_, devices,
                           [](const Candidate& candidate) -> std::optional<double> {
                             const double number = number_in(candidate.builds.solution().source);
                             if (number < 0) return std::nullopt;
                             return 1 + number / 100;
                           });
    Budget whole(budget, 0, 0);
    BudgetShare spent(whole, "gelu_f32");
    Journal journal(started_.archive, started_.campaign);
    SearchEvents events(journal);
    std::vector<models::Model*> models{&model};
    if (settings.planner) models.push_back(&model);
    SimulatedModel second(time_, latency_least_s_, latency_most_s_, second_reply_);
    second.called = "simulated:second";
    if (second_reply_) models.push_back(&second);
    RequestLedger ledger(started_.archive, started_.campaign, models, prices_, {}, limits, event_loop_, journal);
    const prompting::PromptMaker maker(core::installed_paths().prompts());
    const prompting::ProblemText text = prompting::read_problem_text(prompting::test::shipped_problem("gelu_f32"));
    prompting::DeviceText device;
    device.backend = "cpu";
    RecordedRunner recorded(started_.archive, events, spent, text.problem, devices);
    recorded.attach(runner);
    ProblemSearch problem_search(text.problem, recorded, spent, progress_, 1);
    ModelProposals proposals(text, device, maker, ledger, problem_search, started_.archive, progress_, settings, 1,
                             "test-");
    const SearchResult result = problem_search.run(&proposals);
    asked_ = model.asked;
    most_in_flight_ = model.most_in_flight;
    utilisation_ = runner.busy_seconds / (time_.now() * static_cast<double>(devices));
    attempts_ = runner.attempts;
    return result;
  }
  static models::Answer say(const std::string& text) {
    models::Completion completion;
    completion.text = text;
    completion.model = "simulated";
    completion.usage = {100, 1000, 0, 500, false};
    return completion;
  }

  test::VirtualTime time_;
  EventLoop event_loop_;
  const results::archive::test::TemporaryArchive temporary_;
  results::archive::test::Started started_{temporary_.file(), "gelu_f32"};
  test::SilentProgress progress_;
  const models::Prices prices_ = models::Prices::load(core::installed_paths().prompts() / "prices.json", "2026-11-21");
  SimulatedModel::Reply second_reply_;  // of a second model, if there is one
  double latency_least_s_ = 5, latency_most_s_ = 20;
  int64_t asked_ = 0, most_in_flight_ = 0, attempts_ = 0;
  double utilisation_ = 0;
};

TEST_F(Searches, EveryStrategyFindsTheModelsBest) {
  for (const std::string strategy : {"best_of_n", "evolve", "refine"}) {
    int number = 0;
    started_.campaign = started_.archive.start_campaign({}, started_.environment).id;
    ModelSearchSettings settings;
    settings.strategy = strategy;
    settings.patience = 5;
    const SearchResult result = search(
        1, [&](const models::Occasion&, const models::Prompt&) { return say(numbered(std::min(++number, 40))); },
        settings);
    EXPECT_NEAR(result.best, 1.4, 0.001) << strategy;
    EXPECT_THAT(result.why, HasSubstr("converged")) << strategy;
  }
}

TEST_F(Searches, TuneAsksNothing) {
  ModelSearchSettings settings;
  settings.strategy = "tune";
  const SearchResult result = search(
      1, [&](const models::Occasion&, const models::Prompt&) { return say(numbered(9)); }, settings);
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(result.best, 1);
  EXPECT_EQ(attempts_, 1) << "the control";
}

TEST_F(Searches, APlannerPlansEachSolutionBeforeItIsWritten) {
  ModelSearchSettings settings;
  settings.strategy = "best_of_n";
  settings.in_flight = 4;  // a plan keeps what the request after it needs
  settings.planner = 1;
  SpendingLimits limits;
  limits.requests = 6;
  std::vector<std::string> prompts;
  int number = 0;
  const auto reply = [&](const models::Occasion&, const models::Prompt& prompt) {
    prompts.push_back(prompt.as_text());
    const bool plans = prompts.back().find("Do not write the solution yet") != std::string::npos;
    return plans ? say("Two loads in flight, plan " + std::to_string(prompts.size())) : say(numbered(++number));
  };
  search(1, reply, settings, limits);
  ASSERT_EQ(prompts.size(), 6u);
  for (const std::string& prompt : prompts) {
    const bool written = prompt.find("An expert made this plan") != std::string::npos;
    const bool planned = prompt.find("Do not write the solution yet") != std::string::npos;
    EXPECT_NE(written, planned);
    EXPECT_EQ(written, prompt.find("Two loads in flight, plan ") != std::string::npos);
  }
  EXPECT_EQ(number, 3);
  const auto requests = started_.archive.requests_of_campaign(started_.campaign);
  ASSERT_EQ(requests.size(), 6u);
  EXPECT_EQ(std::ranges::count_if(requests, [](const auto& one) { return one.request.proposal.contains("for"); }), 3);
}

TEST_F(Searches, APlanThatDoesNotComeWritesNothing) {
  ModelSearchSettings settings;
  settings.strategy = "best_of_n";
  settings.planner = 1;
  int written = 0;
  const auto reply = [&](const models::Occasion&, const models::Prompt& prompt) -> models::Answer {
    if (prompt.as_text().find("Do not write the solution yet") == std::string::npos) ++written;
    return models::NoCompletion{models::NoCompletion::Cause::unauthorized, "the key is wrong", {}, 1, 0};
  };
  EXPECT_THAT(search(1, reply, settings).why, HasSubstr("the key is wrong"));
  EXPECT_EQ(written, 0);
}

TEST_F(Searches, UnreadableRepliesGoBackOnceAndAreLearnedFrom) {
  ModelSearchSettings settings;
  settings.strategy = "refine";
  settings.lines = 1;
  settings.patience = 3;
  std::vector<std::string> prompts;
  const SearchResult result = search(
      1,
      [&](const models::Occasion&, const models::Prompt& prompt) {
        prompts.push_back(prompt.as_text());
        return say("I would rather talk about the weather.");
      },
      settings);
  EXPECT_EQ(result.best, 1);
  ASSERT_EQ(asked_, 6) << "each of three inquiries once more";
  EXPECT_THAT(prompts[1], HasSubstr("I would rather talk about the weather."));
  EXPECT_THAT(prompts[2], HasSubstr("an unusable reply"));
}

TEST_F(Searches, SeveralModelsShareTheRequestsByTheirGainForTheirCost) {
  ModelSearchSettings settings;
  settings.strategy = "best_of_n";
  settings.in_flight = 2;
  settings.patience = 100;
  SpendingLimits limits;
  limits.requests = 60;
  int number = 0, wrong = 0;
  second_reply_ = [&](const models::Occasion&, const models::Prompt&) { return say(numbered(--wrong)); };
  search(
      1, [&](const models::Occasion&, const models::Prompt&) { return say(numbered(++number)); }, settings, limits);
  EXPECT_GT(number, 40) << "each is faster than the one before it";
  EXPECT_LT(wrong, -3) << "the other is still tried";
  const auto shares = results::archive::model_shares(started_.archive, started_.campaign);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].first + shares[0].gain + shares[0].curiosity, number);
  EXPECT_GT(shares[0].gain, shares[0].curiosity);
  EXPECT_GT(shares[0].won, 20);
  EXPECT_GT(shares[0].factor, 1.3);
  EXPECT_EQ(shares[1].gain, 0);
  EXPECT_EQ(shares[1].first, 1);
  EXPECT_EQ(shares[1].won, 0);
  const auto records = results::archive::model_records(started_.archive, "");
  EXPECT_TRUE(records.empty()) << "a campaign without a device";
}

TEST_F(Searches, AdviceIsRecordedAndScored) {
  ModelSearchSettings settings;
  settings.strategy = "refine";
  settings.lines = 1;
  settings.patience = 2;
  std::vector<std::string> prompts;
  // Each calls erff in its innermost loop, which the diagnosis advises against; each is faster than the one before it.
  const auto reply = [&](const models::Occasion&, const models::Prompt& prompt) {
    prompts.push_back(prompt.turns.back().text());
    std::string text = numbered(10 * static_cast<int>(std::min<size_t>(prompts.size(), 3)));
    text.insert(text.find("= x[0];") + 7, " for (int i = 0; i < N; ++i) y[i] = erff(x[i]);");
    return say(text);
  };
  search(1, reply, settings);
  const auto requests = started_.archive.requests_of_campaign(started_.campaign);
  ASSERT_GE(requests.size(), 3u);
  EXPECT_FALSE(requests[0].request.proposal.contains("limit")) << "from nothing";
  int64_t given = 0;
  for (size_t i = 1; i < requests.size(); ++i) {
    const core::Json& proposal = requests[i].request.proposal;
    ASSERT_EQ(proposal.at("operator"), "improve");
    EXPECT_EQ(proposal.at("limit"), "compute_bound");
    EXPECT_EQ(proposal.at("advice"), "plain_functions");
    EXPECT_THAT(prompts[i], HasSubstr("What to change: Call them less often, or write them as plain arithmetic"));
    ++given;
  }
  const auto advice = results::archive::advice_of_campaign(started_.archive, started_.campaign);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].advice, "plain_functions");
  EXPECT_EQ(advice[0].given, given);
  EXPECT_EQ(advice[0].solutions, 2) << "then only known ones came";
  EXPECT_EQ(advice[0].correct, 2);
  EXPECT_EQ(advice[0].faster, 2);
  EXPECT_NEAR(advice[0].mean_gain.value(), std::sqrt(1.3 / 1.1), 1e-3);  // 1.1 to 1.2 to 1.3
}

TEST_F(Searches, AWrongSolutionIsRepaired) {
  ModelSearchSettings settings;
  settings.strategy = "refine";
  settings.lines = 1;
  settings.patience = 2;
  std::vector<std::string> prompts;
  search(1,
         [&](const models::Occasion&, const models::Prompt& prompt) {
           prompts.push_back(prompt.turns.back().text());
           return say(prompts.size() == 1 ? numbered(-1) : numbered(static_cast<int>(prompts.size())));
         },
         settings, {std::nullopt, 4, std::nullopt});
  ASSERT_GE(prompts.size(), 2u);
  const auto requests = started_.archive.requests_of_campaign(started_.campaign);
  EXPECT_EQ(requests.at(0).request.proposal.at("operator"), "fresh");
  EXPECT_EQ(requests.at(1).request.proposal.at("operator"), "repair");
  EXPECT_EQ(requests.at(1).request.proposal.at("parents"), core::Json({"s1"}));
  EXPECT_EQ(requests.at(0).solutions.size(), 1u);
}

TEST_F(Searches, TheSameSolutionIsNotJudgedTwice) {
  ModelSearchSettings settings;
  settings.strategy = "best_of_n";
  settings.patience = 20;
  search(
      1, [&](const models::Occasion&, const models::Prompt&) { return say("/* again */\n" + numbered(7)); }, settings);
  EXPECT_GE(asked_, 20);
  EXPECT_LT(attempts_, 30) << "one solution, its points, and what was confirmed";
  EXPECT_EQ(static_cast<int64_t>(progress_.notes.size()), asked_ - 1);
  EXPECT_EQ(progress_.notes.at(0), "simulated proposed test-s1 again: it is known and not judged again");
}

TEST_F(Searches, NoPromptIsPaidForTwice) {
  for (const std::string strategy : {"best_of_n", "refine", "evolve"}) {
    ModelSearchSettings settings;
    settings.strategy = strategy;
    settings.in_flight = settings.lines = 12;
    settings.patience = 1000;
    std::set<std::string> prompts;
    int number = 0;
    started_.campaign = started_.archive.start_campaign({}, started_.environment).id;
    search(4,
           [&](const models::Occasion&, const models::Prompt& prompt) {
             prompts.insert(prompt.as_text());
             return say(numbered(std::min(++number, 5)));  // from then on nothing is new
           },
           settings, {std::nullopt, 40, std::nullopt});
    EXPECT_EQ(prompts.size(), 40u) << strategy;
  }
}

TEST_F(Searches, LimitsHoldWithRequestsInFlight) {
  ModelSearchSettings settings;
  settings.strategy = "best_of_n";
  settings.in_flight = 16;
  settings.patience = 1000;
  int number = 0;
  const auto reply = [&](const models::Occasion&, const models::Prompt&) { return say(numbered(++number)); };
  const SearchResult result = search(8, reply, settings, {std::nullopt, 30, std::nullopt});
  EXPECT_EQ(asked_, 30);
  EXPECT_EQ(result.why, "all requests are used up");
  EXPECT_THAT(progress_.warnings, testing::Contains(HasSubstr("80 % of the requests")));

  const auto spent = [&] { return started_.archive.model_spend(started_.campaign).tokens; };
  const SearchResult second = search(8, reply, settings, {spent() + 200'000, std::nullopt, std::nullopt});
  EXPECT_THAT(second.why, HasSubstr("tokens left"));
  EXPECT_LE(spent(), 30 * 1600 + 200'000);
  EXPECT_GE(spent(), 30 * 1600 + 150'000) << "what requests do not use of their reserves is there for others";

  const SearchResult third = search(8, reply, settings, {std::nullopt, std::nullopt, 1.0});
  EXPECT_THAT(third.why, HasSubstr("price is unknown"));
}

// A problem's time ends while a model still writes; its late answer is kept and does no harm.
TEST_F(Searches, AReplyMayComeWhenItsSearchHasEnded) {
  SimulatedModel model(time_, 50, 60, [](const models::Occasion&, const models::Prompt&) { return say(numbered(3)); });
  SimulatedRunner runner(time_, event_loop_, started_, 1, [](const Candidate&) { return 2.0; });
  Journal journal(started_.archive, started_.campaign);
  RequestLedger ledger(started_.archive, started_.campaign, {&model}, prices_, {}, {}, event_loop_, journal);
  {
    Budget whole({3, std::nullopt}, 0, 0);
    BudgetShare budget(whole, "gelu_f32");
    SearchEvents events(journal);
    const prompting::PromptMaker maker(core::installed_paths().prompts());
    const prompting::ProblemText text = prompting::read_problem_text(prompting::test::shipped_problem("gelu_f32"));
    prompting::DeviceText device;
    device.backend = "cpu";
    RecordedRunner recorded(started_.archive, events, budget, text.problem, 1);
    recorded.attach(runner);
    ProblemSearch problem_search(text.problem, recorded, budget, progress_, 1);
    ModelProposals proposals(text, device, maker, ledger, problem_search, started_.archive, progress_, {}, 1, "t-");
    std::vector<NamedSolution> shipped;
    shipped.push_back({prompting::test::shipped_solution("gelu_f32/float4_items.cu"), "float4_items", "seed"});
    problem_search.add({std::move(shipped), {}, false, {}, {}});
    EXPECT_EQ(problem_search.run(&proposals).why, "all attempts are used up");
    EXPECT_GT(ledger.in_flight(), 0u);
  }
  while (time_.step()) {
    while (event_loop_.serve()) {
    }
  }
  EXPECT_EQ(ledger.in_flight(), 0u);
  for (const auto& record : started_.archive.requests_of_campaign(started_.campaign)) EXPECT_TRUE(record.reply);
}

TEST_F(Searches, SilenceEndsASearchWithItsReason) {
  ModelSearchSettings settings;
  const SearchResult result = search(
      1,
      [](const models::Occasion&, const models::Prompt&) {
        return models::Answer(
            models::NoCompletion{models::NoCompletion::Cause::unauthorized, "the key is not accepted", {}, 1, 0});
      },
      settings);
  EXPECT_THAT(result.why, HasSubstr("the key is not accepted"));
  EXPECT_LE(asked_, settings.in_flight);
}

TEST_F(Searches, RecordedRequestsAreNotSentAgain) {
  ModelSearchSettings settings;
  settings.strategy = "refine";
  settings.lines = 1;
  settings.in_flight = 1;
  int number = 0;
  const auto reply = [&](const models::Occasion&, const models::Prompt&) { return say(numbered(++number)); };
  search(1, reply, settings, {std::nullopt, 5, std::nullopt});
  EXPECT_EQ(asked_, 5);
  const results::archive::ModelSpend before = started_.archive.model_spend(started_.campaign);
  const SearchResult again = search(1, reply, settings, {std::nullopt, 5, std::nullopt});
  EXPECT_EQ(asked_, 0);
  EXPECT_NEAR(again.best, 1.05, 0.001);
  EXPECT_EQ(started_.archive.model_spend(started_.campaign).tokens, before.tokens);
}

// 64 devices and 64 requests in flight: no device waits, and the leading thread has time to spare.
TEST_F(Searches, KeepSixtyFourDevicesBusy) {
  ModelSearchSettings settings;
  settings.in_flight = 64;
  settings.lines = 8;
  settings.patience = 1'000'000;
  latency_least_s_ = 0.5;
  latency_most_s_ = 1.5;
  int number = 0;
  std::mt19937_64 chance(3);
  rusage begin{}, end{};
  ::getrusage(RUSAGE_SELF, &begin);
  search(64,
         [&](const models::Occasion&, const models::Prompt&) {
           return say(numbered(number++ % 3 == 0 ? -number : static_cast<int>(chance() % 1000)));
         },
         settings, {}, {5000, std::nullopt});
  ::getrusage(RUSAGE_SELF, &end);
  const auto seconds = [](const rusage& usage) {
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  const double ms_per_attempt = 1e3 * (seconds(end) - seconds(begin)) / static_cast<double>(attempts_);
  RecordProperty("utilisation", std::to_string(utilisation_));
  RecordProperty("ms_per_attempt", std::to_string(ms_per_attempt));
  EXPECT_GT(utilisation_, 0.95);
  EXPECT_EQ(most_in_flight_, 64);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(ms_per_attempt, 4) << "2 ms in a release build";
#endif
}

}  // namespace
}  // namespace agent::search
