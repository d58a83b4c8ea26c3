#include "core/running.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/process.h"

namespace core {
namespace {

TEST(Running, ThisProcessRuns) {
  EXPECT_EQ(is_running(this_process()), Running::yes);
  EXPECT_EQ(this_process(), this_process());
}

TEST(Running, AnEndedProcessDoesNot) {
  const Pipe pipe;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string name = this_process();
    static_cast<void>(::write(pipe.write.get(), name.data(), name.size()));
    ::pause();
    ::_exit(0);
  }
  char name[200] = {};
  ASSERT_GT(::read(pipe.read.get(), name, sizeof name - 1), 0);
  EXPECT_EQ(is_running(name), Running::yes);
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(is_running(name), Running::no) << "not yet collected";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(is_running(name), Running::no);
}

TEST(Running, AnIdThatIsUsedAgainIsAnotherProcess) {
  std::string other = this_process();
  other.back() = other.back() == '1' ? '2' : '1';
  EXPECT_EQ(is_running(other), Running::no);
}

TEST(Running, OnlyProcessesOfThisHostAreKnown) {
  EXPECT_EQ(is_running(""), Running::unknown);
  EXPECT_EQ(is_running("another-boot pid:[4026531836] 1 1"), Running::unknown);
}

}  // namespace
}  // namespace core
