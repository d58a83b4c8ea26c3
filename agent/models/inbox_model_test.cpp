#include "agent/models/inbox_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "agent/models/folder_fixture.h"
#include "agent/models/model_fixture.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::models {
namespace {
namespace fs = std::filesystem;
using Cause = NoCompletion::Cause;
using std::chrono::milliseconds;
using test::ask;
using test::completion_of;
using test::no_completion_of;
using test::prompt_of;
using test::wait_for;
using testing::HasSubstr;

class InboxTest : public testing::Test {
 protected:
  std::unique_ptr<Model> model() const { return inbox_model({"inbox:test", inbox(), milliseconds(20), 1000}); }
  fs::path inbox() const { return folder_.path() / "deep" / "inbox"; }

  // The inbox's files whose names end in `end`.
  std::vector<fs::path> files(const std::string& end) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(inbox())) {
      const std::string name = entry.path().filename().string();
      if (name.size() > end.size() && name.substr(name.size() - end.size()) == end) found.push_back(entry.path());
    }
    return found;
  }
  fs::path prompt_laid_down() const {
    for (int i = 0; i < 1000; ++i) {
      if (const auto found = files(".prompt.md"); !found.empty()) return found.front();
      std::this_thread::sleep_for(milliseconds(5));
    }
    throw std::runtime_error("no prompt");
  }
  static fs::path reply_to(const fs::path& prompt) {
    std::string name = prompt.string();
    return name.replace(name.rfind(".prompt.md"), 10, ".reply.md");
  }

  test::Folder folder_;
};

TEST_F(InboxTest, AReplyIsPickedUpAndBothAreKept) {
  const auto asked = model();
  auto answer = ask(*asked, prompt_of("Softmax."), {"softmax_f32", 3});
  const fs::path prompt = prompt_laid_down();
  EXPECT_THAT(prompt.filename().string(), testing::StartsWith("softmax_f32.3."));
  EXPECT_EQ(core::read_file(prompt), prompt_of("Softmax.").as_text());
  EXPECT_THAT(core::read_file(inbox() / "README.md"), HasSubstr("NAME.reply.md"));
  std::ofstream(inbox() / "aside") << "the reply";
  fs::rename(inbox() / "aside", reply_to(prompt));
  EXPECT_EQ(completion_of(wait_for(std::move(answer))).text, "the reply");
  EXPECT_TRUE(files(".prompt.md").empty() && files(".reply.md").empty());
  EXPECT_EQ(core::read_file(inbox() / "answered" / reply_to(prompt).filename()), "the reply");
  EXPECT_TRUE(fs::exists(inbox() / "answered" / prompt.filename()));
}

TEST_F(InboxTest, AReplyThatIsStillWrittenIsWaitedFor) {
  const auto asked = model();
  auto answer = ask(*asked, prompt_of("Softmax."));
  std::ofstream out(reply_to(prompt_laid_down()));
  for (int i = 0; i < 30; ++i) {
    out << "line\n" << std::flush;
    std::this_thread::sleep_for(milliseconds(4));
  }
  EXPECT_EQ(completion_of(wait_for(std::move(answer))).text.size(), 150u);
}

TEST_F(InboxTest, AnsweredPromptsAreNotAskedAgain) {
  {
    const auto first = model();
    auto answer = ask(*first, prompt_of("Softmax."));
    std::ofstream(reply_to(prompt_laid_down())) << "the reply";
    wait_for(std::move(answer));
  }
  const auto second = model();
  EXPECT_EQ(completion_of(wait_for(ask(*second, prompt_of("Softmax.")))).text, "the reply");
  auto other = ask(*second, prompt_of("Softmax."), {"softmax_f32", 2});
  EXPECT_THAT(prompt_laid_down().filename().string(), testing::StartsWith("softmax_f32.2.")) << "another sample";
  second->cancel();
  EXPECT_EQ(no_completion_of(wait_for(std::move(other))).cause, Cause::cancelled);
}

TEST_F(InboxTest, CancellingKeepsThePromptsAside) {
  const auto asked = model();
  auto first = ask(*asked, prompt_of("Softmax."), {"a", 1});
  auto second = ask(*asked, prompt_of("Softmax."), {"../b", 2});
  while (files(".prompt.md").size() < 2) std::this_thread::sleep_for(milliseconds(5));
  asked->cancel();
  EXPECT_EQ(no_completion_of(wait_for(std::move(first))).cause, Cause::cancelled);
  EXPECT_EQ(no_completion_of(wait_for(std::move(second))).cause, Cause::cancelled);
  EXPECT_TRUE(files(".prompt.md").empty());
  const auto kept = fs::directory_iterator(inbox() / "unanswered");
  EXPECT_EQ(std::distance(begin(kept), fs::directory_iterator()), 2);
  auto again = ask(*asked, prompt_of("Softmax."), {"a", 1});
  EXPECT_FALSE(fs::exists(inbox() / "unanswered" / prompt_laid_down().filename()));
  asked->cancel();
  wait_for(std::move(again));
}

TEST_F(InboxTest, LargeBlankAndLostOnesAreFailures) {
  const auto asked = model();
  const auto cause_with = [&](const std::string& text) {
    const int64_t number = static_cast<int64_t>(text.size()) + 1;
    auto answer = ask(*asked, prompt_of("Softmax."), {"a", number});
    const fs::path prompt = prompt_laid_down();
    if (text.empty()) {
      fs::remove(prompt);
    } else {
      std::ofstream(reply_to(prompt)) << text;
    }
    return no_completion_of(wait_for(std::move(answer))).cause;
  };
  EXPECT_EQ(cause_with(std::string(1001, 'x')), Cause::not_understood);
  EXPECT_EQ(cause_with(" \n"), Cause::empty);
  EXPECT_EQ(cause_with(""), Cause::unreachable);
}

TEST_F(InboxTest, AFolderThatCannotBeMadeIsSaid) {
  std::ofstream(folder_.path() / "deep") << "a file";
  EXPECT_THROW(model(), core::InputError);
}
}  // namespace
}  // namespace agent::models
