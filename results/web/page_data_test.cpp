#include "results/web/page_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/archive/archive_fixture.h"
#include "results/archive/database.h"
#include "results/web/page_files.h"
#include "results/web/plain_page.h"

namespace results::web::test {
namespace {
using namespace archive;
using namespace archive::test;
using core::Json;
using testing::HasSubstr;
using testing::Not;
using verifier::verdicts::Effort;

int64_t add_win(Started& s, const std::string& name, double speed_up, int64_t point = 1) {
  return s.archive.add_attempt(
      s.attempt_at(s.add_candidate(name, "seed", {{"X", point}}), Effort::confirm, correct_judgement(speed_up)));
}

int64_t ask(Started& s) {
  NewRequest request;
  request.campaign = s.campaign;
  request.problem = "sum_f32";
  request.number = 1;
  request.model = "some-model";
  request.proposal = {{"operator", "fresh"}, {"cards", {"tiles"}}};
  request.prompt = {{"system", "be quick"}, {"turns", Json::array()}};
  return s.archive.add_request(request);
}

void pay(Started& s, double dollars) {
  NewReply reply;
  reply.request = ask(s);
  reply.outcome = "completion";
  reply.input = 100;
  reply.output = 20;
  reply.dollars = dollars;
  s.archive.add_reply(reply);
}

void fail_to_ask(Started& s, const std::string& why) {
  NewReply reply;
  reply.request = ask(s);
  reply.outcome = "unreachable";
  reply.what = why;
  s.archive.add_reply(reply);
}

Json at(const archive::Reader& archive, const std::string& path) { return PageData(archive).at(path).value(); }

std::string campaign_path(const Started& s) { return "campaign/" + s.archive.find_campaign("").name; }

TEST(PageData, TheOverviewHasTheBestSolutionsAndCampaigns) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  add_win(s, "fast", 3);
  const Json overview = at(s.archive, "overview");
  EXPECT_EQ(overview["totals"]["attempts"], 1);
  ASSERT_EQ(overview["leaderboard"].size(), 1u);
  const Json& row = overview["leaderboard"][0];
  EXPECT_EQ(row["solution"], "fast");
  EXPECT_EQ(row["tunables"], (Json{{"X", 1}}));
  EXPECT_EQ(row["confirmed"], true);
  EXPECT_DOUBLE_EQ(row["speed_up"], 3);
  EXPECT_EQ(overview["campaigns"].at(0)["status"], "running");
  ASSERT_EQ(overview["scores"].size(), 1u);
  EXPECT_EQ(overview["scores"][0]["solved"], 1);
}

TEST(PageData, ScoresAreOfSuitesAndStandInWholeReports) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  add_win(s, "fast", 3);
  const std::vector<benchsuite::Suite> suites{{"two", "", {"sum_f32", "other"}, {{"other", "its output is\nconstant"}}},
                                              {"unjudged", "", {"other"}}};
  const Json json = PageData(s.archive, {.suites = suites}).at("scores").value();
  ASSERT_EQ(json["scores"].size(), 1u);
  EXPECT_EQ(json["scores"][0]["suite"], "two");
  EXPECT_EQ(json["scores"][0]["verified"], 1);
  EXPECT_EQ(json["scores"][0]["problems"], 2);
  EXPECT_EQ(json["scores"][0]["clean"]["problems"], 1);
  EXPECT_EQ(json["scores"][0]["unclean"]["other"], "its output is constant");
  EXPECT_THAT(json["definitions"][0].get<std::string>(), HasSubstr("fast_p"));
  EXPECT_TRUE(PageData(s.archive, {.suites = suites}).report().contains("scores"));
  EXPECT_FALSE(PageData(s.archive, {.problem = "sum_f32", .suites = suites}).report().contains("scores"));
}

TEST(PageData, EventsAreWords) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  s.archive.add_event(
      s.campaign, "problem_ended",
      {{"problem", "sum_f32"}, {"best", 2.1144}, {"left_out", Json::array()}, {"of", {{"models", {"a", "b"}}}}});
  EXPECT_EQ(at(s.archive, campaign_path(s))["events"][0]["details"], "best 2.114, of (models a, b), problem sum_f32");
}

TEST(PageData, ACampaignListsItsRequestsAndSaysIfNoneWasAnswered) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  EXPECT_TRUE(at(s.archive, campaign_path(s))["requests"].empty());
  fail_to_ask(s, "no <b>route</b>");
  const Json failed = at(s.archive, campaign_path(s));
  EXPECT_EQ(failed["none_answered"], "no <b>route</b>");
  EXPECT_EQ(failed["requests"].at(0)["outcome"], "unanswered: no <b>route</b>");
  pay(s, 0.25);
  const Json answered = at(s.archive, campaign_path(s));
  EXPECT_TRUE(answered["none_answered"].is_null());
  ASSERT_EQ(answered["cards"].size(), 1u);
  EXPECT_EQ(answered["cards"][0]["card"], "tiles");
  EXPECT_EQ(answered["cards"][0]["sent"], 1);
  EXPECT_TRUE(answered["cards"][0]["mean_gain"].is_null());
  EXPECT_TRUE(answered["advice"].empty());
  EXPECT_EQ(answered["requests"].at(1)["outcome"], "nothing new");
}

TEST(PageData, CurvesRiseWithConfirmedWinsAndKnowTheirCost) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  add_win(s, "first", 2);
  pay(s, 0.25);
  const int64_t better = add_win(s, "second", 3);
  add_win(s, "worse", 2.5);
  s.archive.add_attempt(s.attempt_at(s.add_candidate("unconfirmed", "seed"), Effort::full, correct_judgement(9)));

  const Json curves = at(s.archive, campaign_path(s))["curves"];
  ASSERT_EQ(curves.size(), 1u);
  ASSERT_EQ(curves[0]["steps"].size(), 2u);
  const Json& second = curves[0]["steps"][1];
  EXPECT_EQ(second["attempt"], better);
  EXPECT_EQ(second["attempts"], 2);
  EXPECT_EQ(second["solution"], "second");
  EXPECT_DOUBLE_EQ(second["speed_up"]["value"], 3);
  EXPECT_DOUBLE_EQ(second["dollars"], 0.25);
  EXPECT_EQ(second["tokens"], 120);
  EXPECT_EQ(curves[0]["now"]["attempts"], 4);
}

TEST(PageData, ATallyGoesOnFromWhereItWas) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  add_win(s, "first", 2);
  PageData kept(s.archive);
  EXPECT_EQ(kept.at(campaign_path(s)).value()["verdicts"]["correct"], 1);
  add_win(s, "second", 3);
  verifier::verdicts::Judgement wrong;
  wrong.verdict = verifier::verdicts::MemoryLimit{"too much"};
  s.archive.add_attempt(s.attempt_at(s.add_candidate("wrong", "seed"), Effort::full, wrong));
  const Json later = kept.at(campaign_path(s)).value();
  EXPECT_EQ(later["verdicts"]["correct"], 2);
  EXPECT_EQ(later["verdicts"]["memory_limit"], 1);
  EXPECT_EQ(later, at(s.archive, campaign_path(s)));
}

TEST(PageData, ASolutionHasItsSourceFiguresAndLineage) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const sandbox::Solution parent = solution_named("parent"), child = solution_named("child");
  const int64_t parent_id = s.archive.add_solution({&parent, "parent", "seed", {}});
  const int64_t child_id = s.archive.add_solution({&child, "child", "user", parent_id});
  s.archive.add_attempt(s.attempt_at(s.archive.add_candidate(child_id, {}), Effort::confirm, correct_judgement(2)));
  const Json json = at(s.archive, "solution/" + child.hash());
  EXPECT_EQ(json["source"], child.source);
  EXPECT_EQ(json["ancestors"].at(0)["name"], "parent");
  EXPECT_EQ(json["best"].at(0)["workloads"].at(0)["workload"], "bench");
  EXPECT_EQ(json["latest"].at(0)["verdict_name"], "correct");
  EXPECT_TRUE(json["plan"].is_null());  // its header is invalid
  EXPECT_EQ(PageData(s.archive).source(child.hash()), child.source);
}

TEST(PageData, ATimedAttemptHasItsTimesStagesAndIncumbent) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  NewAttempt made = s.attempt_at(s.add_candidate("fast", "seed", {{"X", 4}}), Effort::full, correct_judgement(2));
  made.registers = 40;
  const int64_t id = s.archive.add_attempt(made);
  const Json json = at(s.archive, "attempt/" + std::to_string(id));
  EXPECT_EQ(json["attempt"], id);
  EXPECT_EQ(json["solution"], "fast");
  EXPECT_EQ(json["hash"], solution_named("fast").hash());
  EXPECT_EQ(json["tunables"], (Json{{"X", 4}}));
  EXPECT_EQ(json["campaign"], s.archive.find_campaign("").name);
  EXPECT_THAT(json["sentence"].get<std::string>(), HasSubstr("Correct in 12 compared launches"));
  EXPECT_TRUE(json["advice"].is_null());
  EXPECT_EQ(json["stages"]["compile_ms"], 85);
  EXPECT_EQ(json["stages"]["timing_ms"], 3);
  EXPECT_EQ(json["registers"], 40);
  EXPECT_TRUE(json["spill_bytes"].is_null());
  EXPECT_EQ(json["environment"]["host"], "test");
  EXPECT_EQ(json["compile_log"], "one warning");
  const Json& timing = json["timing"];
  EXPECT_EQ(timing["against"], "naive");
  EXPECT_EQ(timing["against_hash"], solution_named("naive").hash());
  EXPECT_EQ(timing["outcome"], "win");
  EXPECT_DOUBLE_EQ(timing["workloads"].at(0)["time_us"], 50);
  EXPECT_DOUBLE_EQ(timing["workloads"][0]["incumbent_us"], 100);
  EXPECT_EQ(timing["workloads"][0]["pairs"], 31);
  EXPECT_FALSE(timing["workloads"][0].contains("samples"));
  for (const char* absent : {"proposed_by", "parent", "difference", "findings"}) EXPECT_TRUE(json[absent].is_null());
}

TEST(PageData, ARefusedAttemptSaysWhereAndWhatToDo) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const sandbox::Solution solution = [] {
    sandbox::Solution made = solution_named("racy");
    made.source = "// 1\n// 2\n\x1b[2J<b>three</b>\n// 4\n// 5\n// 6\n// 7\n// 8\n";
    return made;
  }();
  const int64_t candidate = s.archive.add_candidate(s.archive.add_solution({&solution, "racy", "user", {}}), {});
  verifier::verdicts::Judgement judgement;
  judgement.verdict = verifier::verdicts::Faulted{
      {"test_7", "N=7", "ordinary", "reverse"},
      {sandbox::FaultKind::race, "writes 'part'\x1b[31m <i>", "row_sum", {{0, 0, 0}}, {{1, 0, 0}}, 3}};
  NewAttempt made = s.attempt_at(candidate, Effort::full, judgement);
  made.compile_log = "a warning\n\x1b[31min <b>line</b> 2";
  const Json json = at(s.archive, "attempt/" + std::to_string(s.archive.add_attempt(made)));
  EXPECT_EQ(json["verdict_name"], "race");
  EXPECT_THAT(json["sentence"].get<std::string>(), HasSubstr("thread (1,0,0), line 3"));
  EXPECT_EQ(json["advice"], "Put __syncthreads() or __syncwarp() between these accesses.");
  EXPECT_EQ(json["verdict"]["where"]["axes"], "N=7");
  EXPECT_EQ(json["verdict"]["fault"]["line"], 3);
  EXPECT_EQ(json["near"]["first"], 1);
  EXPECT_EQ(json["near"]["lines"].size(), 7u);
  EXPECT_EQ(json["near"]["lines"][2], "?[2J<b>three</b>");
  EXPECT_EQ(json["compile_log"], "a warning\n?[31min <b>line</b> 2");  // text, which a page shows as text
  EXPECT_TRUE(json["timing"].is_null());
  EXPECT_THAT(json.dump(), Not(HasSubstr("\\u001b")));
}

TEST(PageData, AnAttemptLeadsToItsRequestsAndParent) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const std::string name = s.archive.find_campaign("").name;
  const auto propose = [&](int64_t request, const std::string& of, std::optional<int64_t> parent) {
    NewReply reply;
    reply.request = request;
    reply.outcome = "completion";
    const sandbox::Solution solution = solution_named(of);
    const int64_t id = s.archive.add_solution({&solution, name + "-" + of, "some-model", parent});
    s.archive.add_proposed(s.archive.add_reply(reply), id);
    return id;
  };
  const auto improve = [&](const std::string& member) {
    NewRequest request;
    request.campaign = s.campaign;
    request.problem = "sum_f32";
    request.model = "some-model";
    request.proposal = {{"operator", "improve"}, {"parents", {member}}, {"limit", "memory_bound"}};
    const std::string task = "# Your task\n\nMake it faster.\n\nFindings about it:\n\nIt waits\x1b for memory.";
    request.prompt = {{"system", ""}, {"turns", {{{"speaker", "user"}, {"sections", {task}}}}}};
    return s.archive.add_request(request);
  };
  const int64_t first = ask(s);
  const int64_t parent = propose(first, "s1", std::nullopt);
  const int64_t second = improve("s1");
  const int64_t child = propose(second, "s2", parent);
  const int64_t unanswered = improve("s1");
  improve("s9");
  const auto attempt_at = [&](int64_t solution) {
    const int64_t candidate = s.archive.add_candidate(solution, {});
    return "attempt/" +
           std::to_string(s.archive.add_attempt(s.attempt_at(candidate, Effort::full, correct_judgement(2))));
  };
  const Json of_parent = at(s.archive, attempt_at(parent)), of_child = at(s.archive, attempt_at(child));
  EXPECT_EQ(of_parent["proposed_by"]["exchange"], first);
  ASSERT_EQ(of_parent["later"].size(), 2u);
  EXPECT_EQ(of_parent["later"][0]["exchange"], second);
  EXPECT_EQ(of_parent["later"][0]["limit"], "memory_bound");
  EXPECT_TRUE(of_parent["later"][0]["advice"].is_null());
  EXPECT_EQ(of_parent["later"][1]["exchange"], unanswered);
  EXPECT_EQ(of_parent["findings"]["exchange"], second);
  EXPECT_EQ(of_parent["findings"]["text"], "Findings about it:\n\nIt waits? for memory.");
  EXPECT_EQ(of_child["proposed_by"]["exchange"], second);
  EXPECT_EQ(of_child["parent"]["solution"], name + "-s1");
  EXPECT_THAT(of_child["difference"].get<std::string>(), HasSubstr("+// sum_f32 s2\n"));
  EXPECT_TRUE(of_child["later"].empty());
}

TEST(PageData, MissingDataIsNotShown) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  PageData data(s.archive);
  for (const char* path :
       {"", "nothing", "problem", "problem/", "problem/other", "campaign/", "campaign/none", "solution/",
        "solution/naive", "solution/../../etc/passwd", "exchange/", "exchange/1", "exchange/1x", "exchange/-1",
        "attempt/", "attempt/1", "attempt/1x", "attempt/-1", "../overview"}) {
    EXPECT_FALSE(data.at(path)) << path;
  }
  EXPECT_THROW(PageData(s.archive, {"", "no_such_problem", ""}).report(), core::InputError);
  EXPECT_THROW(PageData(s.archive, {"no_such_campaign", "", ""}).report(), core::InputError);
}

TEST(PageData, AReportHoldsThePagesItLinksTo) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  for (int i = 1; i <= 5; ++i) add_win(s, "solution" + std::to_string(i), 1 + i);
  const Json report = PageData(s.archive).report();
  EXPECT_TRUE(report.contains("overview"));
  EXPECT_TRUE(report.contains("problem/sum_f32"));
  EXPECT_TRUE(report.contains(campaign_path(s)));
  EXPECT_TRUE(report.contains("solution/" + solution_named("solution5").hash()));
  EXPECT_FALSE(report.contains("solution/" + solution_named("solution1").hash()));  // the best few only
}

TEST(PageData, AReportOfACampaignHoldsItsRequestsAndNewestAttempts) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  pay(s, 0.25);
  for (int i = 1; i <= 12; ++i) add_win(s, "solution" + std::to_string(i), 1 + i);
  EXPECT_FALSE(PageData(s.archive).report().contains("exchange/1"));
  EXPECT_FALSE(PageData(s.archive).report().contains("attempt/12"));
  const std::string name = s.archive.find_campaign("").name;
  const Json report = PageData(s.archive, {.campaign = name}).report();
  EXPECT_EQ(report.at("exchange/1")["campaign"], name);
  EXPECT_EQ(report.at("attempt/12")["campaign"], name);
  EXPECT_FALSE(report.contains("attempt/2"));
}

TEST(PageData, UserTextIsCleanedAndStaysText) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const std::string hostile = "</script><script>alert(1)</script>\x1b[2J\n\xe2\x80\xae<img src=x>";
  add_win(s, hostile, 3);
  const std::string name = at(s.archive, "overview")["leaderboard"][0]["solution"];
  EXPECT_THAT(name, HasSubstr("</script><script>alert(1)</script>"));
  EXPECT_THAT(name, Not(HasSubstr("\x1b")));
  EXPECT_THAT(name, Not(HasSubstr("\n")));
  EXPECT_THAT(name, Not(HasSubstr("\xe2\x80\xae")));
}

TEST(PlainPage, LeadsFromACampaignToItsRepliesWithoutScripts) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const std::string hostile = "</pre><script>alert('1')</script>&\"";
  fail_to_ask(s, hostile);
  NewReply reply;
  reply.request = ask(s);
  reply.outcome = "completion";
  reply.reply = hostile + "\n```\n<img src=x>\n```\n";
  const sandbox::Solution parent = solution_named("parent"), child = solution_named("<b>child</b>");
  const int64_t from = s.archive.add_solution({&parent, "parent", "some-model", {}});
  s.archive.add_proposed(s.archive.add_reply(reply), s.archive.add_solution({&child, hostile, "some-model", from}));
  PageData data(s.archive);
  EXPECT_THAT(plain_page(data, "overview").value(), HasSubstr("href=\"/plain/campaign/"));
  const std::string campaign = plain_page(data, campaign_path(s)).value();
  EXPECT_THAT(campaign, HasSubstr("href=\"/plain/exchange/1\""));
  EXPECT_THAT(campaign, HasSubstr("unanswered: &lt;/pre&gt;&lt;script&gt;alert(&#39;1&#39;)"));
  const std::string exchange = plain_page(data, "exchange/2").value();
  EXPECT_THAT(exchange, HasSubstr("<code><span class=\"line\">&lt;img src=x&gt;"));
  EXPECT_THAT(exchange, HasSubstr("<span class=\"changed new\">+// sum_f32 &lt;b&gt;child&lt;/b&gt;"));
  EXPECT_THAT(exchange, HasSubstr("Prompt, about "));
  for (const std::string& page : {campaign, exchange, plain_page(data, "exchange/1").value()}) {
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("<img")));
    EXPECT_THAT(page, Not(HasSubstr("<b>")));
  }
  for (const char* path : {"", "scores", "campaign/none", "exchange/9", "problem/sum_f32"}) {
    EXPECT_FALSE(plain_page(data, path)) << path;
  }
}

TEST(PageFiles, TablesHoldNoFormulasAndNamesNoPaths) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  add_win(s, "=cmd|' /C calc'!A0", 3);
  add_win(s, "a \"quoted\", name", 2);
  const std::string csv = csv_of(leaderboard(s.archive));
  EXPECT_THAT(csv, HasSubstr(",'=cmd|"));
  EXPECT_THAT(csv, HasSubstr(",\"a \"\"quoted\"\", name\","));
  EXPECT_EQ(file_name("../../etc/passwd"), "_.._.._etc_passwd");
  EXPECT_EQ(file_name("a\"\r\nSet-Cookie: b"), "a___Set-Cookie__b");
  EXPECT_EQ(file_name(""), "_");
}

}  // namespace
}  // namespace results::web::test
