#include "results/view/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/archive/archive_fixture.h"
#include "results/view/exchange_texts.h"

namespace results::view::test {
namespace {
using namespace archive;
using namespace archive::test;
using core::Json;
using testing::HasSubstr;
using verifier::verdicts::Effort;

// A campaign that asks a model.
class Exchanges : public testing::Test {
 protected:
  int64_t ask(const std::string& text, int line = 0) {
    const Json turn{{"speaker", "user"}, {"sections", {"# The problem\nat length", text}}};
    return ask_turns(Json::array({turn}), line);
  }
  int64_t ask_turns(const Json& turns, int line = 0) {
    NewRequest request;
    request.campaign = s_.campaign;
    request.problem = "sum_f32";
    request.number = ++number_;
    request.model = "exec:a";
    request.proposal = {{"operator", "fresh"}, {"line", line}};
    request.prompt = {{"system", "be brief"}, {"turns", turns}};
    return s_.archive.add_request(request);
  }
  int64_t reply(int64_t request, const std::string& text) {
    NewReply made;
    made.request = request;
    made.outcome = "completion";
    made.reply = text;
    return s_.archive.add_reply(made);
  }
  void fail(int64_t request, const std::string& why) {
    NewReply made;
    made.request = request;
    made.outcome = "unreachable";
    made.what = why;
    s_.archive.add_reply(made);
  }
  int64_t bring(int64_t reply, const std::string& name) {
    const sandbox::Solution solution = solution_named(name);
    const int64_t id = s_.archive.add_solution({&solution, name, "exec:a", {}});
    s_.archive.add_proposed(reply, id);
    return s_.archive.add_candidate(id, {});
  }
  void judge(int64_t candidate, Effort effort, verifier::verdicts::Judgement judgement) {
    s_.archive.add_attempt(s_.attempt_at(candidate, effort, std::move(judgement)));
  }
  std::string words(int64_t request) const { return outcome_in_words(find_exchange(s_.archive, request).value()); }

  TemporaryArchive temporary_;
  Started s_{temporary_.file()};
  int64_t number_ = 0;
};

TEST_F(Exchanges, SayInWordsHowTheyEnded) {
  const int64_t waiting = ask("a"), lost = ask("b"), weather = ask("c"), wrong = ask("d"), right = ask("e");
  fail(lost, "exec:a ended with exit code 1");
  s_.archive.add_event(s_.campaign, std::string(kUnusableReply),
                       {{"reply", reply(weather, "The weather.")}, {"why", "the reply holds no solution"}});
  verifier::verdicts::Judgement refused;
  refused.verdict = verifier::verdicts::MemoryLimit{"too much"};
  judge(bring(reply(wrong, "code"), "s2"), Effort::screen, refused);
  const int64_t candidate = bring(reply(right, "code"), "s3");
  EXPECT_EQ(words(right), "s3: not judged: its turn had not come");
  judge(candidate, Effort::full, correct_judgement(2));
  EXPECT_EQ(words(right), "s3: correct, 2.00x over naive");
  judge(candidate, Effort::confirm, refused);
  EXPECT_THAT(words(right), HasSubstr("over naive, but not when it was to be confirmed: "));
  judge(candidate, Effort::confirm, correct_judgement(1.9));
  EXPECT_EQ(words(right), "s3: correct, 2.00x over naive, won and confirmed");
  EXPECT_EQ(words(waiting), "no reply yet");
  EXPECT_EQ(words(lost), "unanswered: exec:a ended with exit code 1");
  EXPECT_EQ(words(weather), "unusable: the reply holds no solution");
  EXPECT_THAT(words(wrong), HasSubstr("s2: "));
  EXPECT_THAT(words(wrong), HasSubstr("too much"));
}

TEST_F(Exchanges, AreListedTheLastOnesInOrder) {
  const int64_t first = ask("a"), second = ask("b"), third = ask("c");
  const std::vector<Exchange> all = newest_exchanges(s_.archive, s_.campaign, 2);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].record.id, second);
  EXPECT_EQ(all[1].record.id, third);
  EXPECT_EQ(json_of(all[1])["task"], "fresh");
  EXPECT_FALSE(find_exchange(s_.archive, third + first));
}

TEST_F(Exchanges, KnowWhyNoneWasAnswered) {
  EXPECT_FALSE(why_none_answered(s_.archive, s_.campaign)) << "nothing was asked";
  const int64_t first = ask("a"), second = ask("b");
  EXPECT_EQ(why_none_answered(s_.archive, s_.campaign), "they were still waited for at the end");
  fail(first, "no route");
  EXPECT_EQ(why_none_answered(s_.archive, s_.campaign), "no route");
  reply(second, "hello");
  EXPECT_FALSE(why_none_answered(s_.archive, s_.campaign));
}

TEST_F(Exchanges, AreFollowedByTheirLineOrByWhatWasSentBack) {
  const int64_t first = ask("a", 1);
  EXPECT_FALSE(following_exchange(s_.archive, find_exchange(s_.archive, first).value())) << "no reply";
  reply(first, "The weather.");
  const Exchange exchange = find_exchange(s_.archive, first).value();
  ask("of another line", 2);
  EXPECT_FALSE(following_exchange(s_.archive, exchange));
  const int64_t same_line = ask("b", 1);
  EXPECT_EQ(following_exchange(s_.archive, exchange)->record.id, same_line);
  Json turns = exchange.record.request.prompt["turns"];
  turns.push_back({{"speaker", "assistant"}, {"sections", {"The weather."}}});
  turns.push_back({{"speaker", "user"}, {"sections", {"Nothing in it can be used."}}});
  const int64_t sent_back = ask_turns(turns, 1);
  EXPECT_EQ(following_exchange(s_.archive, exchange)->record.id, sent_back);
  reply(same_line, "Code.");
  EXPECT_FALSE(following_exchange(s_.archive, find_exchange(s_.archive, same_line).value())) << "not its reply";
}

TEST_F(Exchanges, ShowTheirTextsInParts) {
  const int64_t first = ask("told at first");
  const std::string hostile = "<script>alert(1)</script>\x1b[2J";
  const int64_t candidate = bring(reply(first, hostile + "\n```cuda\ncode();\n```\nIt is fast."), "s2");
  judge(candidate, Effort::full, correct_judgement(2));
  ask("told after it");
  const Json json = full_json_of(s_.archive, find_exchange(s_.archive, first).value());
  ASSERT_EQ(json["prompt"].size(), 3u);
  EXPECT_EQ(json["prompt"][0]["title"], "System");
  EXPECT_EQ(json["prompt"][1]["title"], "The problem");
  EXPECT_EQ(json["prompt"][2]["text"], "told at first");
  EXPECT_GT(json["tokens"], json["prompt"][1]["tokens"]);
  const Json& parts = json["reply"]["parts"];
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0]["text"], "<script>alert(1)</script>?[2J\n");
  EXPECT_EQ(parts[1], (Json{{"code", true}, {"text", "code();\n"}}));
  EXPECT_EQ(json["brought"][0]["source"], solution_named("s2").source);
  EXPECT_TRUE(json["brought"][0]["difference"].is_null()) << "it has no parent";
  EXPECT_EQ(json["next"]["number"], 2);
  EXPECT_FALSE(json["next"]["sent_back"]);
  ASSERT_EQ(json["next"]["told"].size(), 1u);
  EXPECT_EQ(json["next"]["told"][0]["difference"], "@@ -1,1 +1,1 @@\n-told at first\n+told after it\n");
}

TEST_F(Exchanges, ShowWhatChangedInTheParent) {
  const int64_t asked = ask("a"), answer = reply(asked, "code");
  const sandbox::Solution parent = solution_named("parent"), child = solution_named("child");
  const int64_t from = s_.archive.add_solution({&parent, "parent", "exec:a", {}});
  s_.archive.add_proposed(answer, s_.archive.add_solution({&child, "child", "exec:a", from}));
  const Json json = full_json_of(s_.archive, find_exchange(s_.archive, asked).value());
  EXPECT_EQ(json["brought"][0]["parent"]["solution"], "parent");
  EXPECT_EQ(json["brought"][0]["difference"], "@@ -1,1 +1,1 @@\n-// sum_f32 parent\n+// sum_f32 child\n");
  EXPECT_TRUE(json["next"].is_null());
}

}  // namespace
}  // namespace results::view::test
