// The views of docs/archive.md, read like another program does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <regex>
#include <set>

#include "core/text.h"
#include "results/archive/archive_fixture.h"
#include "results/archive/exchanges.h"
#include "results/archive/query.h"

namespace results::archive::test {
namespace {
using testing::HasSubstr;

// "### v_name", then rows "| column, column | ... |".
std::map<std::string, std::set<std::string>> documented_views() {
  std::map<std::string, std::set<std::string>> views;
  std::string view;
  for (const std::string& line : core::split(core::read_file(KW_SOURCE_FOLDER "/docs/archive.md"), '\n')) {
    if (line.rfind("### ", 0) == 0) view = line.substr(4);
    if (view.empty() || line.rfind("| ", 0) != 0 || line.rfind("| column |", 0) == 0) continue;
    for (const std::string& column : core::split(line.substr(2, line.find(" |", 2) - 2), ',')) {
      views[view].insert(column.substr(column.find_first_not_of(' ')));
    }
  }
  return views;
}

std::string ask_sqlite3(const std::filesystem::path& file, const std::string& sql) {
  const std::string command = "sqlite3 -readonly -cmd '.headers on' '" + file.string() + "' '" + sql + "' 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> part{};
  while (const size_t count = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), count);
  return ::pclose(pipe) == 0 ? text : "failed: " + text;
}

// A campaign with a model's reply, a confirmation and a library.
void fill(const std::filesystem::path& file) {
  Started s(file);
  NewRequest asked;
  asked.campaign = s.campaign;
  asked.problem = "sum_f32";
  asked.number = 1;
  asked.model = "some:model";
  asked.proposal = {
      {"operator", "improve"}, {"limit", "latency_bound"}, {"advice", "more_stages"}, {"cards", {"shared_tile"}}};
  asked.prompt = {{"system", ""}, {"turns", core::Json::array()}};
  const int64_t request = s.archive.add_request(asked);
  NewReply reply;
  reply.request = request;
  reply.outcome = "completion";
  reply.model = "some-model-1";
  reply.input = 1000;
  reply.output = 200;
  reply.dollars = 0.25;
  const int64_t answered = s.archive.add_reply(reply);
  const int64_t candidate = s.add_candidate("s1", "some-model-1");
  s.archive.add_proposed(answered, s.archive.find_solutions("s1").at(0).id);
  s.archive.add_attempt(s.attempt_at(candidate, verifier::verdicts::Effort::confirm, correct_judgement(2)));
  s.archive.add_event(s.campaign, "stopped", {});
  s.archive.add_baseline({s.problem, s.environment, "cpu", "cuBLAS 13.0", correct_judgement(1.6)});
}

TEST(Views, AreAsDocumentedAndRead) {
  const TemporaryArchive temporary;
  fill(temporary.file());
  Database database(temporary.file());
  std::map<std::string, std::set<std::string>> views;
  {
    Statement rows = database.prepare(
        "SELECT v.name, c.name FROM sqlite_master v JOIN pragma_table_info(v.name) c WHERE v.type = 'view'");
    while (rows.step()) views[rows.text(0)].insert(rows.text(1));
  }
  EXPECT_GE(views.size(), 10u);
  EXPECT_EQ(views, documented_views());
  for (const auto& [view, columns] : views) {
    const std::string text = ask_sqlite3(temporary.file(), "SELECT * FROM " + view);
    EXPECT_GE(core::split(text, '\n').size(), 3u) << view << ": " << text;  // its columns, a row, the end
  }
  EXPECT_THAT(ask_sqlite3(temporary.file(), "SELECT solution, model, tokens, dollars, confirmed FROM v_solutions"),
              HasSubstr("s1|some:model|1200|0.25|1\n"));
  EXPECT_THAT(ask_sqlite3(temporary.file(), "SELECT rank, solution, speed_up, time_us FROM v_leaderboard"),
              HasSubstr("\n1|s1|2.0|50.0\n"));
  EXPECT_THAT(ask_sqlite3(temporary.file(), "SELECT library, verdict, speed_up FROM v_libraries"),
              HasSubstr("cuBLAS 13.0|correct|1.6\n"));
  EXPECT_THAT(ask_sqlite3(temporary.file(), "SELECT * FROM v_models"), HasSubstr("some:model|1|1|1|1200|0.25|1|1\n"));
}

// A campaign whose prompts advise, with solutions made from "parent", which is twice as fast as naive.
class Advised {
 public:
  explicit Advised(const std::filesystem::path& file, core::Json settings = core::Json::object()) : s_(file) {
    settings.update({{"problems", {"sum_f32"}}, {"device", "cpu"}});
    s_.campaign = s_.archive.start_campaign(settings, s_.environment).id;
    parent_ = solution("parent", {});
    judge(parent_, 2, s_.naive, verifier::verdicts::Effort::confirm);
  }

  // The reply's number.
  int64_t reply_to(const core::Json& proposal, size_t turns = 1) {
    NewRequest asked;
    asked.campaign = s_.campaign;
    asked.problem = "sum_f32";
    asked.number = ++number_;
    asked.model = "some:model";
    asked.proposal = proposal;
    asked.prompt = {{"system", ""}, {"turns", core::Json::array()}};
    for (size_t i = 0; i < turns; ++i) {
      asked.prompt["turns"].push_back({{"speaker", "user"}, {"sections", core::Json::array()}});
    }
    NewReply reply;
    reply.request = s_.archive.add_request(asked);
    reply.outcome = "completion";
    return s_.archive.add_reply(reply);
  }
  int64_t child(int64_t reply, const std::string& name) {
    const int64_t id = solution(name, parent_);
    s_.archive.add_proposed(reply, id);
    return id;
  }
  int64_t fresh(int64_t reply, const std::string& name) {
    const int64_t id = solution(name, {});
    s_.archive.add_proposed(reply, id);
    return id;
  }
  // Against `against`, a candidate; returns its own.
  int64_t judge(int64_t solution, std::optional<double> speed_up, int64_t against, verifier::verdicts::Effort effort) {
    const int64_t candidate = s_.archive.add_candidate(solution, {});
    verifier::verdicts::Judgement judgement;
    judgement.verdict = verifier::verdicts::WrongResult{{}, "y", 0, 1, 0, 100, 1, 1};
    if (speed_up) judgement = correct_judgement(*speed_up);
    NewAttempt attempt = s_.attempt_at(candidate, effort, std::move(judgement));
    if (speed_up) attempt.against = against;
    s_.archive.add_attempt(attempt);
    return candidate;
  }
  int64_t naive() const { return s_.naive; }
  int64_t parent() { return s_.archive.add_candidate(parent_, {}); }
  int64_t campaign() const { return s_.campaign; }
  const Recorder& archive() const { return s_.archive; }

 private:
  int64_t solution(const std::string& name, std::optional<int64_t> parent) {
    const sandbox::Solution solution = solution_named(name);
    return s_.archive.add_solution({&solution, name, "some:model", parent});
  }

  Started s_;
  int64_t parent_ = 0, number_ = 0;
};

TEST(Views, AdviceIsScoredByWhatItBrought) {
  using enum verifier::verdicts::Effort;
  const TemporaryArchive temporary;
  Advised a(temporary.file());
  const core::Json stages{{"operator", "improve"}, {"limit", "latency_bound"}, {"advice", "more_stages"}};
  const core::Json nothing{{"operator", "improve"}, {"limit", "memory_bound"}};
  // Twice its parent in full; the confirmation says 1.5 times, and 3 over naive.
  const int64_t fast = a.child(a.reply_to(stages), "fast");
  a.judge(fast, 2, a.parent(), full);
  a.judge(fast, 1.5, a.parent(), confirm);
  a.judge(fast, 3, a.naive(), confirm);
  // Wrong after a reply that could not be used; the request that sent it back is not counted as another prompt.
  a.reply_to(stages);
  a.judge(a.child(a.reply_to(stages, 3), "wrong"), std::nullopt, 0, full);
  // Half as fast as "fast", which is the incumbent by now: 0.75 of its parent.
  const int64_t slow = a.child(a.reply_to(stages), "slow");
  a.judge(slow, 9, a.naive(), screen);  // no result
  a.judge(slow, 0.5, a.judge(fast, 3, a.naive(), confirm), full);
  // Without advice; not judged; and of a version that kept none.
  a.judge(a.child(a.reply_to(nothing), "other"), 2.01, a.naive(), full);
  a.child(a.reply_to(nothing), "not judged");
  a.child(a.reply_to({{"operator", "improve"}}), "older");

  const QueryResult advised =
      query(a.archive(), "SELECT advice, solution, parent, correct, round(gain, 4) FROM v_advised WHERE NOT sent_back");
  EXPECT_EQ(core::Json(advised.rows).dump(),
            R"([["more_stages","fast","parent",1,1.5],["more_stages",null,null,0,null],)"
            R"(["more_stages","slow","parent",1,0.75],[null,"other","parent",1,1.005],)"
            R"([null,"not judged","parent",0,null]])");
  const QueryResult advice =
      query(a.archive(), "SELECT advice, given, solutions, correct, faster, round(mean_gain, 4) FROM v_advice");
  EXPECT_EQ(core::Json(advice.rows).dump(), R"([[null,2,2,1,0,1.005],["more_stages",3,3,2,1,1.0607]])");
  const std::vector<AdviceUse> uses = advice_of_campaign(a.archive(), a.campaign());
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].advice, "more_stages");
  EXPECT_EQ(uses[0].given, 3);
  EXPECT_EQ(uses[0].correct, 2);
  EXPECT_EQ(uses[0].faster, 1);
  EXPECT_NEAR(uses[0].mean_gain.value(), std::sqrt(1.5 * 0.75), 1e-9);
  EXPECT_EQ(uses[1].advice, "");
  EXPECT_TRUE(advice_of_campaign(a.archive(), a.campaign() + 1).empty());
}

TEST(Views, CardsAreScoredByWhatTheirPromptsBrought) {
  using enum verifier::verdicts::Effort;
  const TemporaryArchive temporary;
  Advised a(temporary.file());
  const auto proposal = [](const char* task, const core::Json& cards) {
    return core::Json{{"operator", task}, {"cards", cards}};
  };
  // 1.5 times its parent, which is twice as fast as naive.
  const int64_t fast = a.child(a.reply_to(proposal("improve", {"tiles", "vectors"})), "fast");
  a.judge(fast, 1.5, a.parent(), confirm);
  a.judge(fast, 3, a.naive(), confirm);
  // A fresh one as fast as a third of the best so far; and a wrong one after a reply that was sent back.
  core::Json fresh = proposal("fresh", {"tiles"});
  fresh["exemplar"] = "max_f32";
  a.judge(a.fresh(a.reply_to(fresh), "slow"), 1, a.naive(), full);
  a.reply_to(proposal("improve", {"vectors"}));
  a.judge(a.child(a.reply_to(proposal("improve", {"vectors"}), 3), "wrong"), std::nullopt, 0, full);
  a.reply_to(proposal("repair", core::Json::array()));  // shows none
  a.reply_to(proposal("plan", {"tiles"}));              // asks for no solution

  const QueryResult shown =
      query(a.archive(),
            "SELECT part, name, task, solution, correct, won, round(gain, 4) FROM v_shown ORDER BY request, name");
  EXPECT_EQ(core::Json(shown.rows).dump(),
            R"([["card","tiles","improve","fast",1,1,1.5],["card","vectors","improve","fast",1,1,1.5],)"
            R"(["exemplar","max_f32","fresh","slow",1,0,0.3333],["card","tiles","fresh","slow",1,0,0.3333],)"
            R"(["card","vectors","improve",null,0,0,null],["card","vectors","improve","wrong",0,0,null]])");
  const QueryResult cards = query(a.archive(), "SELECT card, sent, solutions, correct, won FROM v_cards");
  EXPECT_EQ(core::Json(cards.rows).dump(), R"([["tiles",2,2,2,1],["vectors",2,2,1,1]])");
  const std::vector<CardUse> uses = cards_of_campaign(a.archive(), a.campaign());
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].card, "tiles");
  EXPECT_EQ(uses[0].won, 1);
  EXPECT_NEAR(uses[0].mean_gain.value(), std::sqrt(1.5 / 3), 1e-9);
  EXPECT_EQ(card_records(a.archive(), "cpu").at("tiles").sent, 2);
  EXPECT_EQ(card_records(a.archive(), "cpu").at("vectors").won, 1);
  EXPECT_TRUE(card_records(a.archive(), "cuda").empty());
  const ModelRecord model = model_records(a.archive(), "cpu").at("some:model");
  EXPECT_EQ(model.requests, 5);
  EXPECT_NEAR(model.gain, std::log(1.5), 1e-9);
  EXPECT_FALSE(model.dollars) << "a reply has no price";
}

TEST(Views, CampaignsThatAreHeldOutTeachNothing) {
  const TemporaryArchive temporary;
  Advised a(temporary.file(), {{"held_out", true}});
  a.reply_to({{"operator", "fresh"}, {"cards", {"tiles"}}});
  EXPECT_EQ(core::Json(query(a.archive(), "SELECT card, sent FROM v_cards").rows).dump(), R"([["tiles",1]])");
  EXPECT_TRUE(card_records(a.archive(), "cpu").empty());
  EXPECT_EQ(core::Json(query(a.archive(), "SELECT held_out FROM v_campaigns ORDER BY 1").rows).dump(), "[[0],[1]]");
}

std::string refusal(const Reader& archive, const std::string& sql, const QueryLimits& limits = {}) {
  try {
    query(archive, sql, limits);
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Query, ReadsValuesOfEveryKind) {
  const TemporaryArchive temporary;
  fill(temporary.file());
  const Recorder archive(temporary.file());
  const QueryResult one = query(archive, "SELECT 1 AS a, 0.5, 'x', NULL, zeroblob(3); -- and no more");
  EXPECT_EQ(one.columns.at(0), "a");
  EXPECT_EQ(core::Json(one.rows).dump(), "[[1,0.5,\"x\",null,\"(3 bytes)\"]]");
  EXPECT_FALSE(one.more);
  const QueryResult cut = query(archive, "SELECT value FROM json_each('[1, 2, 3]')", {2});
  EXPECT_EQ(cut.rows.size(), 2u);
  EXPECT_TRUE(cut.more);
  EXPECT_FALSE(query(archive, "SELECT value FROM json_each('[1, 2, 3]')", {3}).more);
  EXPECT_EQ(query(archive, "PRAGMA table_info(v_models)").rows.size(), 8u);
}

TEST(Query, CanOnlyReadTheArchive) {
  const TemporaryArchive temporary;
  fill(temporary.file());
  Recorder archive(temporary.file());
  const std::string other = (temporary.file().parent_path() / "other.db").string();
  for (const std::string& sql : std::vector<std::string>{
           "DELETE FROM events", "UPDATE problems SET name = ''", "INSERT INTO texts VALUES (1, '', '')",
           "DROP VIEW v_models", "CREATE TABLE x (y)", "CREATE TEMP TABLE x (y)", "ATTACH '" + other + "' AS x",
           "VACUUM INTO '" + other + "'", "PRAGMA query_only = OFF", "PRAGMA journal_mode = DELETE", "BEGIN", "REINDEX",
           "SELECT load_extension('x')", "SELECT 1; DELETE FROM events", "ALTER TABLE texts RENAME TO y", "ANALYZE",
           ""}) {
    EXPECT_NE(refusal(archive, sql), "") << sql;
  }
  EXPECT_FALSE(std::filesystem::exists(other));
  EXPECT_EQ(archive.count_attempts(), 1);
  archive.add_event(std::nullopt, "still", {});  // the archive itself may write as before
}

TEST(Query, NamesTheFault) {
  const TemporaryArchive temporary;
  const Recorder archive(temporary.file());
  EXPECT_THAT(refusal(archive, "SELECT * FROM v_leaderbord"), HasSubstr("did you mean \"v_leaderboard\"?"));
  EXPECT_THAT(refusal(archive, "SELECT * FROM attempt"), HasSubstr("did you mean \"attempts\"?"));
  EXPECT_THAT(refusal(archive, "SELECT * FROM zebra"),
              HasSubstr("known views: v_advice, v_advised, v_attempts, v_campaigns"));
  EXPECT_THAT(refusal(archive, "SELECT nope FROM v_models"), HasSubstr("no such column: nope"));
  EXPECT_THAT(refusal(archive, "SELEC 1"), HasSubstr("syntax error"));
  EXPECT_THAT(refusal(archive, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT count(*) FROM c",
                      {10, std::chrono::milliseconds(20)}),
              HasSubstr("took longer than"));
  EXPECT_THAT(refusal(archive, "SELECT zeroblob(1000000000)"), HasSubstr("too big"));
  EXPECT_THAT(refusal(archive, "SELECT 'x' LIKE replace(hex(zeroblob(1000)), '0', '%')"), HasSubstr("too complex"));
  EXPECT_THAT(refusal(archive,
                      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
                      " SELECT hex(zeroblob(30000000)) FROM c"),
              HasSubstr("MB of text"));
}

}  // namespace
}  // namespace results::archive::test
