#include "agent/models/exec_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <future>
#include <thread>
#include <vector>

#include "agent/models/folder_fixture.h"
#include "agent/models/model_fixture.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::models {
namespace {
using Cause = NoCompletion::Cause;
using std::chrono::milliseconds;
using test::ask;
using test::completion_of;
using test::no_completion_of;
using test::prompt_of;
using test::wait_for;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<Model> model_of(const std::string& command, milliseconds total = milliseconds(20'000)) {
  return exec_model({"exec:test", split_command(command), total, 10'000});
}
Answer answer_of(const std::string& command, milliseconds total = milliseconds(20'000)) {
  return wait_for(ask(*model_of(command, total), prompt_of("Softmax.")));
}

TEST(SplitCommand, QuotesAndBackslashes) {
  EXPECT_THAT(split_command("cat"), ElementsAre("cat"));
  EXPECT_THAT(split_command("  my-model\t--temp 0.5 "), ElementsAre("my-model", "--temp", "0.5"));
  EXPECT_THAT(split_command(R"(a 'b  c' "d 'e'" f\ g \"h '\i')"),
              ElementsAre("a", "b  c", "d 'e'", "f g", "\"h", "\\i"));
  EXPECT_THAT(split_command(R"(a '' x""y "\"")"), ElementsAre("a", "", "xy", "\""));
  EXPECT_THAT(split_command("echo $HOME; rm *"), ElementsAre("echo", "$HOME;", "rm", "*")) << "no shell";
  for (const char* wrong : {"", "  ", "a 'b", "a \"b", "''"}) EXPECT_THROW(split_command(wrong), core::InputError);
}

TEST(ExecModel, ThePromptGoesInAndTheReplyComesOut) {
  const Completion completion = completion_of(answer_of("cat"));
  EXPECT_EQ(completion.text, "You write kernels.\n\nThe format is so.\nSoftmax.");
  EXPECT_TRUE(completion.complete);
  EXPECT_TRUE(completion.usage.estimated);
  EXPECT_GT(completion.usage.input, 0);
  EXPECT_EQ(completion_of(answer_of("cat /dev/stdin")).text, completion.text) << "the input is a file as well";
}

TEST(ExecModel, ACommandNeedNotReadItsInput) { EXPECT_EQ(completion_of(answer_of("echo hello")).text, "hello\n"); }

TEST(ExecModel, ReportsEveryFailure) {
  const NoCompletion failed = no_completion_of(answer_of("sh -c 'echo partly; echo no luck >&2; exit 3'"));
  EXPECT_EQ(failed.cause, Cause::cut_off);
  EXPECT_THAT(failed.what, HasSubstr("exit code 3: no luck"));
  EXPECT_GT(failed.usage.output, 0) << "it may have cost";
  EXPECT_THAT(no_completion_of(answer_of("sh -c 'kill -SEGV $$'")).what, HasSubstr("signal 11"));
  EXPECT_EQ(no_completion_of(answer_of("true")).cause, Cause::empty);
  const NoCompletion missing = no_completion_of(answer_of("no-such-command-here"));
  EXPECT_EQ(missing.cause, Cause::bad_request);
  EXPECT_THAT(missing.what, HasSubstr("cannot start no-such-command-here"));
  EXPECT_EQ(missing.usage.input, 0);
}

TEST(ExecModel, TimeAndLengthAreLimited) {
  const NoCompletion late = no_completion_of(answer_of("sleep 30", milliseconds(150)));
  EXPECT_EQ(late.cause, Cause::timed_out);
  EXPECT_LT(late.seconds, 15);
  const NoCompletion long_winded = no_completion_of(answer_of("yes"));
  EXPECT_EQ(long_winded.cause, Cause::not_understood);
  EXPECT_LT(long_winded.seconds, 15);
}

TEST(ExecModel, NothingOutlivesItsAnswer) {
  const test::Folder folder;
  const std::string file = (folder.path() / "pid").string();
  // The grandchild keeps standard output open.
  const NoCompletion late =
      no_completion_of(answer_of("sh -c 'sleep 60 & echo $! > " + file + "; wait'", milliseconds(500)));
  EXPECT_EQ(late.cause, Cause::timed_out);
  const int left = std::stoi(core::read_file(file));
  EXPECT_EQ(completion_of(answer_of("sh -c 'sleep 60 & echo $! > " + file + "; echo done'")).text, "done\n");
  const int other = std::stoi(core::read_file(file));
  for (const int pid : {left, other}) {
    // Killed, perhaps not yet reaped.
    const auto state = [&] {
      std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
      std::string word;
      for (int i = 0; i < 3; ++i) stat >> word;
      return word;
    };
    for (int i = 0; i < 500 && ::kill(pid, 0) == 0 && state() != "Z"; ++i)
      std::this_thread::sleep_for(milliseconds(10));
    EXPECT_TRUE(::kill(pid, 0) != 0 || state() == "Z") << pid;
  }
}

TEST(ExecModel, ManyRunAtOnceAndAllAreCancelled) {
  const auto model = model_of("sh -c 'sleep 1; cat'");
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 16; ++i) answers.push_back(ask(*model, prompt_of(std::to_string(i))));
  for (int i = 0; i < 16; ++i) {
    EXPECT_THAT(completion_of(wait_for(std::move(answers[static_cast<size_t>(i)]))).text,
                testing::EndsWith(std::to_string(i)));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(14'000)) << "one after the other takes 16 s";
  const auto sleeping = model_of("sleep 30");
  answers.clear();
  for (int i = 0; i < 3; ++i) answers.push_back(ask(*sleeping, prompt_of("x")));
  sleeping->cancel();
  for (auto& answer : answers) EXPECT_EQ(no_completion_of(wait_for(std::move(answer))).cause, Cause::cancelled);
}
}  // namespace
}  // namespace agent::models
