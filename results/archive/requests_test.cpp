#include <gtest/gtest.h>

#include "results/archive/archive_fixture.h"
#include "results/archive/database.h"

namespace results::archive::test {
namespace {
using core::Json;

NewRequest request(int64_t campaign, int64_t number, const std::string& changing) {
  return {
      campaign,
      "sum_f32",
      number,
      "anthropic:some-model",
      {{"operator", "improve"}, {"parents", {1}}},
      {{"system", "be brief"}, {"turns", {{{"speaker", "user"}, {"sections", {"the problem, at length", changing}}}}}},
      std::string(64, 'a'),
      1000,
      0.5};
}

NewReply reply(int64_t request) {
  NewReply made;
  made.request = request;
  made.outcome = "completion";
  made.model = "some-model-20260101";
  made.reply = "a kernel \xff\x1b[31m, any bytes";
  made.input = 10;
  made.cache_read = 200;
  made.cache_written = 30;
  made.output = 44;
  made.dollars = 0.125;
  made.tries = 2;
  made.seconds = 3.5;
  return made;
}

TEST(Requests, AreReadAsTheyWereAdded) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const int64_t campaign = s.campaign;
  const int64_t first = s.archive.add_request(request(campaign, 1, "first"));
  const int64_t second = s.archive.add_request(request(campaign, 2, "second"));
  const int64_t answer = s.archive.add_reply(reply(second));
  const sandbox::Solution solution_of_model = solution_named("proposed");
  const int64_t solution = s.archive.add_solution({&solution_of_model, "proposed", "anthropic:some-model", {}});
  s.archive.add_proposed(answer, solution);
  s.archive.add_proposed(answer, solution);
  const std::vector<RequestRecord> all = s.archive.requests_of_campaign(campaign);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id, first);
  EXPECT_FALSE(all[0].reply);
  EXPECT_EQ(all[0].request.prompt, request(campaign, 1, "first").prompt);
  EXPECT_EQ(all[1].request.proposal, request(campaign, 2, "").proposal);
  EXPECT_EQ(all[1].request.reserved_dollars, 0.5);
  ASSERT_TRUE(all[1].reply);
  EXPECT_EQ(all[1].reply->reply, reply(second).reply);
  EXPECT_EQ(all[1].reply->dollars, 0.125);
  EXPECT_EQ(all[1].reply->tries, 2);
  EXPECT_EQ(all[1].solutions, std::vector<int64_t>{solution});
}

TEST(Requests, RepeatedTextsAreKeptOnce) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  for (int i = 0; i < 20; ++i) s.archive.add_request(request(s.campaign, i, "changing " + std::to_string(i)));
  Database database(temporary.file());
  EXPECT_EQ(
      [&] {
        Statement count = database.prepare("SELECT count(*) FROM texts");
        count.step();
        return count.integer(0);
      }(),
      2 + 20);
}

TEST(Requests, SpendingCountsReservesUntilTheReply) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const int64_t campaign = s.campaign;
  const int64_t first = s.archive.add_request(request(campaign, 1, "first"));
  s.archive.add_request(request(campaign, 2, "second"));
  EXPECT_EQ(s.archive.model_spend(campaign).tokens, 2000);
  EXPECT_EQ(s.archive.model_spend(campaign).dollars, 1);
  s.archive.add_reply(reply(first));
  const ModelSpend spend = s.archive.model_spend(campaign);
  EXPECT_EQ(spend.requests, 2);
  EXPECT_EQ(spend.tokens, 1000 + 284);
  EXPECT_EQ(spend.dollars, 0.625);
  EXPECT_TRUE(spend.all_priced);
  NewRequest unpriced = request(campaign, 3, "third");
  unpriced.reserved_dollars.reset();
  s.archive.add_request(unpriced);
  EXPECT_FALSE(s.archive.model_spend(campaign).all_priced);
}

TEST(Requests, AreNeverChanged) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const int64_t first = s.archive.add_request(request(s.campaign, 1, "first"));
  s.archive.add_reply(reply(first));
  EXPECT_THROW(s.archive.add_reply(reply(first)), core::SystemError);
  Database database(temporary.file());
  EXPECT_THROW(database.execute("UPDATE replies SET dollars = 0"), core::SystemError);
  EXPECT_THROW(database.execute("DELETE FROM requests"), core::SystemError);
}

TEST(Steps, AreNumberedAsTheyAreWrittenDown) {
  using Kind = StepRecord::Kind;
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const Json prompt{{"system", ""}, {"turns", Json::array()}};
  s.archive.add_event(s.campaign, "problem_started", {{"problem", "sum_f32"}});
  const int64_t request = s.archive.add_request({s.campaign, "sum_f32", 1, "exec:a", {}, prompt, "", 0, {}});
  const int64_t attempt =
      s.archive.add_attempt(s.attempt_at(s.naive, verifier::verdicts::Effort::full, correct_judgement(2)));
  NewReply reply;
  reply.request = request;
  reply.outcome = "completion";
  s.archive.add_reply(reply);
  NewAttempt alone = s.attempt_at(s.naive, verifier::verdicts::Effort::full, correct_judgement(2));
  alone.campaign.reset();
  s.archive.add_attempt(alone);
  const std::vector<StepRecord> steps = s.archive.steps_of_campaign(s.campaign);
  ASSERT_EQ(steps.size(), 4u);
  const Kind kinds[] = {Kind::event, Kind::request, Kind::attempt, Kind::reply};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(steps[i].number, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(steps[i].kind, kinds[i]) << i;
  }
  EXPECT_EQ(steps[0].event, "problem_started");
  EXPECT_EQ(steps[1].id, request);
  EXPECT_EQ(steps[2].id, attempt);
  EXPECT_EQ(steps[2].candidate, s.naive);
  EXPECT_EQ(steps[2].against, s.naive);
  EXPECT_EQ(steps[3].id, request);

  const std::filesystem::path file = temporary.file().parent_path() / "copy.db";
  s.archive.copy_to(file);
  EXPECT_EQ(Recorder(file).steps_of_campaign(s.campaign).size(), 4u);
  EXPECT_THROW(s.archive.copy_to(file), core::SystemError) << "there is one already";
}

}  // namespace
}  // namespace results::archive::test
