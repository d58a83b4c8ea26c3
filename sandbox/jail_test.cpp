// Each test locks a child process and lets it try what the jail must prevent.
#include "sandbox/jail.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

namespace sandbox {
namespace {

// The wait status of a child that locks itself and then exits with what `attempt` returns.
int status_in_jail(JailProfile profile, const JailFolders& folders, const std::function<int()>& attempt) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    try {
      enter_jail(profile, folders, {});
    } catch (const std::exception&) {
      ::_exit(99);
    }
    ::_exit(attempt());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

int opens(const char* path, int flags) {
  const int fd = ::open(path, flags, 0600);
  return fd >= 0 ? 1 : 0;
}

bool ended_by(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }

TEST(Jail, ACellIsEndedByAnyForbiddenCall) {
  EXPECT_TRUE(ended_by(status_in_jail(JailProfile::cell, {}, [] { return opens("/etc/passwd", O_RDONLY); }), SIGSYS));
  EXPECT_TRUE(
      ended_by(status_in_jail(JailProfile::cell, {}, [] { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0; }), SIGSYS));
  EXPECT_TRUE(ended_by(status_in_jail(JailProfile::cell, {}, [] { return ::fork() >= 0; }), SIGSYS));
  EXPECT_TRUE(ended_by(status_in_jail(JailProfile::cell, {}, [] { return ::kill(::getppid(), 0) == 0; }), SIGSYS));
  EXPECT_TRUE(ended_by(status_in_jail(JailProfile::cell, {},
                                      [] {
                                        char name[] = "/bin/true";
                                        char* const argv[] = {name, nullptr};
                                        return ::execv(name, argv);
                                      }),
                       SIGSYS));
}

TEST(Jail, ACellMayUseMemory) {
  EXPECT_EQ(status_in_jail(JailProfile::cell, {},
                           [] {
                             void* p =
                                 ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                             return p == MAP_FAILED ? 1 : 0;
                           }),
            0);
}

TEST(Jail, TheCompileWorkerHasNoNetworkAndNewSessions) {
  EXPECT_EQ(status_in_jail(JailProfile::compile, {}, [] { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 1 : 0; }), 0);
  EXPECT_EQ(status_in_jail(JailProfile::compile, {}, [] { return ::setsid() >= 0 ? 1 : 0; }), 0);
}

TEST(Jail, LandlockKeepsFilesOutOfReach) {
  if (landlock_abi() == 0) {
    // Without Landlock the report must say so instead.
    EXPECT_EQ(status_in_jail(JailProfile::compile, {}, [] { return 0; }), 0);
    return;
  }
  char folder[] = "/tmp/kernelwright-jail-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string inside = std::string(folder) + "/file";
  const JailFolders folders{{"/usr"}, {folder}};
  EXPECT_EQ(status_in_jail(JailProfile::compile, folders, [] { return opens("/etc/passwd", O_RDONLY); }), 0);
  EXPECT_EQ(status_in_jail(JailProfile::compile, folders, [] { return opens("/proc/self/environ", O_RDONLY); }), 0);
  EXPECT_EQ(
      status_in_jail(JailProfile::compile, folders, [] { return opens("/usr/kernelwright", O_CREAT | O_WRONLY); }), 0);
  const int opened =
      status_in_jail(JailProfile::compile, folders, [&] { return opens(inside.c_str(), O_CREAT | O_WRONLY); });
  EXPECT_EQ(WEXITSTATUS(opened), 1);
  ::unlink(inside.c_str());
  ::rmdir(folder);
}

}  // namespace
}  // namespace sandbox
