// A campaign is killed with SIGKILL at many moments and resumed each time: nothing recorded is lost or made twice, the
// budget is kept, and nothing is left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <sstream>

#include "agent/campaign/program_fixture.h"
#include "core/strict_json.h"
#include "results/archive/recorder.h"

namespace agent::cli::commands {
namespace {
using campaign::test::Ended;
using campaign::test::Home;
using core::Json;

// Text that identifies an attempt and its result.
std::string summary(const results::archive::RecordedAttempt& attempt) {
  std::string text = attempt.problem + " " + attempt.solution + " " + sandbox::describe(attempt.binding) + " " +
                     attempt.effort + " against " + attempt.against + " " + attempt.made;
  if (attempt.measurement) text += " " + to_json(*attempt.measurement).dump();
  return text;
}

std::map<int64_t, std::string> recorded(const Home& home) {
  std::map<int64_t, std::string> all;
  if (!std::filesystem::exists(home.archive())) return all;
  const results::archive::Reader archive(home.archive());
  if (archive.campaigns().empty()) return all;
  for (const int64_t id : archive.attempts_of_campaign(archive.find_campaign("").id)) {
    all[id] = summary(archive.attempt(id));
  }
  return all;
}

// Ids of attempts that the program reported before it was killed.
std::set<int64_t> reported(const std::string& json_lines) {
  std::set<int64_t> ids;
  std::istringstream lines(json_lines);
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line, nullptr, false);  // the last line may be cut off
    if (!json.is_discarded() && json.value("event", "") == "attempted") ids.insert(json.at("attempt").get<int64_t>());
  }
  return ids;
}

TEST(Campaign, SurvivesManyKills) {
  constexpr int kKills = 14, kBudget = 40;
  const Home home;
  const std::vector<std::string> run{
      "--json", "run", "gelu_f32",   "histogram_i32", "--attempts", std::to_string(kBudget),
      "--seed", "11",  "--patience", "1000"};
  const std::vector<std::string> resume{"--json", "resume"};
  // Chooses kill times around a resumed campaign's first attempts, on machines of any speed.
  const auto started = std::chrono::steady_clock::now();
  ASSERT_EQ(Home().run({"run", "gelu_f32", "--attempts", "2"}).exit_code, 0);
  auto few_attempts = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - started);
  std::mt19937 chance(20);
  std::map<int64_t, std::string> before;
  bool done = false;
  int kills = 0;
  for (; kills < kKills && !done; ++kills) {
    const auto delay = few_attempts * std::uniform_int_distribution<int>(0, 180)(chance) / 100;
    const Ended ended = home.run(before.empty() ? run : resume, SIGKILL, delay);
    done = ended.exit_code == 0;
    ASSERT_TRUE(done || ended.exit_code == 128 + SIGKILL) << ended.err;
    const std::map<int64_t, std::string> now = recorded(home);
    for (const auto& [id, text] : before) ASSERT_EQ(now.count(id) == 0 ? "lost" : now.at(id), text);
    for (const int64_t id : reported(ended.out)) EXPECT_EQ(now.count(id), 1u) << "reported and then lost";
    // A busy machine is slower than it was at the start: wait longer after a kill that came before any attempt.
    if (now.size() == before.size()) few_attempts += few_attempts / 8;
    before = now;
  }
  EXPECT_GT(before.size(), 5u) << "the campaign made progress between the kills";
  const Ended last = home.run(resume);
  ASSERT_TRUE(last.exit_code == 0 || (done && last.err.find("is done") != std::string::npos)) << last.err;

  const results::archive::Reader archive(home.archive());
  // A kill before the first attempt leaves a campaign that nobody resumes; the loop continued with the newest one.
  const results::archive::CampaignRecord campaign = archive.find_campaign("");
  EXPECT_EQ(campaign.status, "done");
  EXPECT_LE(campaign.attempts, kBudget);
  std::set<std::string> seen;
  for (const int64_t id : archive.attempts_of_campaign(campaign.id)) {
    const results::archive::RecordedAttempt a = archive.attempt(id);
    if (a.effort == "control") continue;
    const std::string key = a.problem + " " + a.solution + " " + sandbox::describe(a.binding) + " " + a.effort + " " +
                            (a.reused_from ? std::to_string(*a.reused_from) : a.against);
    EXPECT_TRUE(seen.insert(key).second) << "made twice: " << key;
  }
  // Workers die with the agent; the next run removes its temporary files.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_THAT(home.leftover_processes(), testing::IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(home.temporary()));
}

TEST(Campaign, CtrlCEndsCleanlyAndSaysHowToResume) {
  const Home home;
  const Ended ended = home.run({"run", "gelu_f32", "--attempts", "40", "--patience", "1000"}, SIGINT,
                               std::chrono::milliseconds(500), "  #2 ");
  ASSERT_EQ(ended.exit_code, 130) << ended.out << ended.err;
  const std::string mark = "Continue with: kernelwright resume ";
  ASSERT_THAT(ended.out, testing::HasSubstr(mark));
  std::string name = ended.out.substr(ended.out.find(mark) + mark.size());
  name = name.substr(0, name.find('\n'));
  const auto before = recorded(home);
  EXPECT_GT(before.size(), 0u);
  EXPECT_THAT(home.leftover_processes(), testing::IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(home.temporary()));

  const Ended resumed = home.run({"resume", name});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const auto after = recorded(home);
  EXPECT_GT(after.size(), before.size());
  EXPECT_LE(after.size(), 40u);
  for (const auto& [id, text] : before) EXPECT_EQ(after.at(id), text);
}

TEST(CampaignEnd, ItsTableIsOfThisCampaign) {
  const Home home;
  const auto run = [&](const char* attempts) {
    return home.run({"run", "gelu_f32", "--attempts", attempts, "--seed", "1"}).out;
  };
  EXPECT_THAT(run("8"), testing::ContainsRegex("gelu_f32 +1 +[0-9.]+x .*float4_items"));
  const std::string second = run("2");
  EXPECT_THAT(second, testing::HasSubstr("no verified solution faster than naive: gelu_f32\n"));
  EXPECT_THAT(second, testing::ContainsRegex("gelu_f32: an earlier campaign has [0-9.]+x, #[0-9]+\n"));
  EXPECT_THAT(second, testing::Not(testing::HasSubstr("RANK")));
}

}  // namespace
}  // namespace agent::cli::commands
