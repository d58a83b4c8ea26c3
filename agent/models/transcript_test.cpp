#include "agent/models/transcript.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "agent/models/folder_fixture.h"
#include "agent/models/model_fixture.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::models {
namespace {
using Cause = NoCompletion::Cause;
using test::ask;
using test::completion_of;
using test::no_completion_of;
using test::prompt_of;
using test::wait_for;
using testing::HasSubstr;

Completion completion(const std::string& text) {
  Completion one;
  one.text = text;
  one.model = "m-1";
  one.complete = false;
  one.usage = {1, 2, 3, 4, true};
  one.tries = 2;
  one.seconds = 0.5;
  return one;
}

Transcript small_transcript() {
  NoCompletion none;
  none.cause = Cause::declined;
  none.what = "no";
  none.usage.input = 7;
  none.tries = 3;
  return {{"anthropic:m", "2026-11-21T17:00:00Z", "0.1.0", "cpu", "a note"},
          {{{"softmax_f32", 1}, "aa", completion("one \xC3\xA9\n\"quoted\"\x01")},
           {{"softmax_f32", 2}, "bb", none},
           {{"softmax_f32", 4}, "cc", completion("four")},
           {{"gemm_f16", 1}, "dd", completion("gemm")}}};
}

TEST(Transcript, IsReadAsItWasWritten) {
  const test::Folder folder;
  const auto file = folder.path() / "t.jsonl";
  write_transcript(small_transcript(), file);
  const std::string text = core::read_file(file);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7F); }));
  const Transcript read = read_transcript(file);
  EXPECT_EQ(read.header.model, "anthropic:m");
  EXPECT_EQ(read.header.date, "2026-11-21T17:00:00Z");
  EXPECT_EQ(read.header.kernelwright, "0.1.0");
  EXPECT_EQ(read.header.device, "cpu");
  EXPECT_EQ(read.header.note, "a note");
  ASSERT_EQ(read.entries.size(), 4u);
  EXPECT_EQ(read.entries[0].occasion.problem, "softmax_f32");
  EXPECT_EQ(read.entries[2].occasion.number, 4);
  EXPECT_EQ(read.entries[1].prompt_hash, "bb");
  const Completion first = completion_of(read.entries[0].answer);
  EXPECT_EQ(first.text, "one \xC3\xA9\n\"quoted\"\x01");
  EXPECT_EQ(first.model, "m-1");
  EXPECT_FALSE(first.complete);
  EXPECT_EQ(first.usage.input, 1);
  EXPECT_EQ(first.usage.cache_read, 2);
  EXPECT_EQ(first.usage.cache_written, 3);
  EXPECT_EQ(first.usage.output, 4);
  EXPECT_TRUE(first.usage.estimated);
  EXPECT_EQ(first.tries, 2);
  EXPECT_EQ(first.seconds, 0.5);
  const NoCompletion none = no_completion_of(read.entries[1].answer);
  EXPECT_EQ(none.cause, Cause::declined);
  EXPECT_EQ(none.what, "no");
  EXPECT_EQ(none.usage.input, 7);
  EXPECT_EQ(none.tries, 3);
}

TEST(Transcript, FaultsAreSaidWithTheirLine) {
  const test::Folder folder;
  const auto file = folder.path() / "t.jsonl";
  const std::string header =
      R"({"kernelwright_transcript":1,"model":"m","date":"d","kernelwright":"0.1.0","device":"cpu"})"
      "\n";
  const auto fault = [&](const std::string& text) -> std::string {
    std::ofstream(file) << text;
    try {
      read_transcript(file);
    } catch (const core::InputError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(fault(header), "none");
  EXPECT_EQ(fault(header + "\n" + R"({"problem":"a","number":1,"prompt_hash":"","reply":"x"})"), "none");
  EXPECT_THAT(fault(""), HasSubstr("is empty"));
  EXPECT_THAT(fault("{}"), HasSubstr("t.jsonl:1"));
  EXPECT_THAT(fault(R"({"kernelwright_transcript":2})"), HasSubstr("version 2"));
  for (const char* wrong : {"{", "{}", R"({"problem":"a","number":1,"prompt_hash":""})",
                            R"({"problem":"a","number":0,"prompt_hash":"","reply":"x"})",
                            R"({"problem":"a","number":1,"prompt_hash":"","no_reply":"boredom"})",
                            R"({"problem":"a","number":1,"prompt_hash":"","reply":"x","no_reply":"empty"})",
                            R"({"problem":"a","number":1,"prompt_hash":"","reply":"x","surprise":1})"}) {
    EXPECT_THAT(fault(header + wrong), HasSubstr("t.jsonl:2")) << wrong;
  }
}

TEST(ReplayModel, GivesRepliesByNumberAndThenInOrder) {
  const auto model = replay_model("replay:t", small_transcript());
  const auto answer = [&](const std::string& problem, int64_t number) {
    return wait_for(ask(*model, prompt_of("any"), {problem, number}));
  };
  EXPECT_EQ(completion_of(answer("softmax_f32", 4)).text, "four");
  EXPECT_EQ(no_completion_of(answer("softmax_f32", 2)).cause, Cause::declined);
  EXPECT_EQ(completion_of(answer("softmax_f32", 9)).text, "one \xC3\xA9\n\"quoted\"\x01") << "the next unused";
  const NoCompletion none = no_completion_of(answer("softmax_f32", 1));
  EXPECT_EQ(none.cause, Cause::exhausted);
  EXPECT_THAT(none.what, HasSubstr("softmax_f32"));
  EXPECT_EQ(completion_of(answer("gemm_f16", 1)).usage.output, 4);
  EXPECT_EQ(no_completion_of(answer("unknown", 1)).cause, Cause::exhausted);
}

TEST(ReplayModel, ItsEndLeavesNoQuestionOpen) {
  std::vector<std::future<Answer>> answers;
  {
    const auto model = replay_model("replay:t", small_transcript());
    for (int i = 1; i <= 4; ++i) answers.push_back(ask(*model, prompt_of("any"), {"softmax_f32", i}));
  }
  for (auto& answer : answers) wait_for(std::move(answer));
}
}  // namespace
}  // namespace agent::models
