// Each test locks a child process and lets it try what the jail must prevent.
#include "sandbox/jail/jail.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cstdlib>
#include <thread>

#include "sandbox/jail/jail_fixture.h"

namespace sandbox::jail {
namespace {

int status_in_jail(JailProfile profile, const JailFolders& folders, const std::function<int()>& attempt) {
  return status_of_child([&] {
    enter_jail(profile, folders, {});
    return attempt();
  });
}

// Runs `attempt` at a limited level.
int at_level(int most, const std::function<int()>& attempt) {
  return exit_of_child([&] {
    JailLimits limits;
    limits.most_level = most;
    const JailReport report = enter_jail(JailProfile::compile, {}, limits);
    return report.level == most && report.missing ? attempt() : kNotOnThisHost;
  });
}

bool ended_by(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }

TEST(Jail, ACandidateProcessIsEndedByAnyForbiddenCall) {
  const auto ends = [](const std::function<int()>& attempt) {
    return ended_by(status_in_jail(JailProfile::candidate, {}, attempt), SIGSYS);
  };
  EXPECT_TRUE(ends(reads_a_file));
  EXPECT_TRUE(ends(makes_a_socket));
  EXPECT_TRUE(ends(makes_namespaces));
  EXPECT_TRUE(ends([] { return ::fork() >= 0; }));
  EXPECT_TRUE(ends([] { return signals(::getppid()); }));
  EXPECT_TRUE(ends([] { return traces(::getpid()); }));
  EXPECT_TRUE(ends([] {
    char name[] = "/bin/true";
    char* const argv[] = {name, nullptr};
    return ::execv(name, argv);
  }));
}

int status_of_candidate(const JailLimits& limits, const std::function<int()>& attempt) {
  return status_of_child([&] {
    enter_jail(JailProfile::candidate, {}, limits);
    return attempt();
  });
}
bool is_forbidden_to_a_candidate(const std::function<int()>& attempt) {
  return ended_by(status_of_candidate({}, attempt), SIGSYS);
}
void* map(int protection, int flags) { return ::mmap(nullptr, 1 << 20, protection, flags, -1, 0); }
constexpr int kReadWrite = PROT_READ | PROT_WRITE, kOwn = MAP_PRIVATE | MAP_ANONYMOUS;

// A candidate process is forked from a run worker, so that both filters hold: what one refuses, the other cannot allow.
TEST(Jail, ACandidateInARunWorkerSeesWhichPagesWereTouched) {
  const int status = status_in_jail(JailProfile::run, {}, [] {
    return status_of_candidate({}, [] {
      unsigned char touched[2] = {0, 0};
      auto* pages = static_cast<unsigned char*>(map(kReadWrite, kOwn));
      pages[0] = 1;
      if (::mincore(pages, 2 * 4096, touched) != 0) return 1;
      return (touched[0] & 1) == 1 && (touched[1] & 1) == 0 ? 0 : 2;
    });
  });
  EXPECT_EQ(status, 0);
}

TEST(Jail, ACandidateMayUseMemory) {
  EXPECT_EQ(status_of_candidate({}, [] { return map(kReadWrite, kOwn) == MAP_FAILED ? 1 : 0; }), 0);
  EXPECT_EQ(status_of_candidate({}, [] { return ::mprotect(map(kReadWrite, kOwn), 4096, PROT_NONE); }), 0);
}

TEST(Jail, NothingBecomesCodeInACandidateProcess) {
  EXPECT_TRUE(is_forbidden_to_a_candidate([] { return map(kReadWrite | PROT_EXEC, kOwn) == MAP_FAILED; }));
  void* own = map(kReadWrite, kOwn);
  EXPECT_TRUE(is_forbidden_to_a_candidate([&] { return ::mprotect(own, 4096, PROT_READ | PROT_EXEC); }));
}

TEST(Jail, TheMemoryOfACandidateProcessIsCounted) {
  // A candidate process cannot map kinds of memory that its limit does not count.
  EXPECT_TRUE(is_forbidden_to_a_candidate([] { return map(kReadWrite, MAP_SHARED | MAP_ANONYMOUS) == MAP_FAILED; }));
  EXPECT_TRUE(is_forbidden_to_a_candidate([] { return map(kReadWrite, kOwn | MAP_GROWSDOWN) == MAP_FAILED; }));
  JailLimits limits;
  limits.data_bytes = size_t{1} << 30;  // the test process already uses some of it
  const auto in_vain = [&](size_t bytes) {
    return status_of_candidate(
        limits, [&] { return ::mmap(nullptr, bytes, kReadWrite, kOwn | MAP_NORESERVE, -1, 0) == MAP_FAILED ? 1 : 0; });
  };
  EXPECT_EQ(in_vain(size_t{1} << 20), 0);
#if defined(__SANITIZE_ADDRESS__)  // its own memory would exceed any limit
  EXPECT_EQ(in_vain(size_t{2} << 30), 0);
#else
  EXPECT_EQ(WEXITSTATUS(in_vain(size_t{2} << 30)), 1);
#endif
}

TEST(Jail, TheEndOfItsProcessorTimeIsNotTakenForALackOfMemory) {
  JailLimits limits;
  limits.processor_s = 1;
  const int status = status_of_candidate(limits, [] {
    volatile bool forever = true;
    while (forever) continue;
    return 0;
  });
  EXPECT_TRUE(ended_by(status, SIGXCPU)) << status;
}

TEST(Jail, ACandidateProcessSpeaksOverItsChannelAlone) {
  int ends[2], others[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, others), 0);
  JailLimits limits;
  limits.channel = ends[0];
  const auto send_over = [](int fd) { return ::send(fd, "x", 1, MSG_NOSIGNAL) == 1 ? 0 : 1; };
  EXPECT_EQ(status_of_candidate(limits, [&] { return send_over(ends[0]); }), 0);
  EXPECT_TRUE(ended_by(status_of_candidate(limits, [&] { return send_over(others[0]); }), SIGSYS));
  EXPECT_TRUE(
      ended_by(status_of_candidate(limits, [&] { return ::recv(others[0], ends, 1, MSG_DONTWAIT) == 1; }), SIGSYS));
#if !defined(__SANITIZE_ADDRESS__)  // it may report findings
  EXPECT_TRUE(ended_by(status_of_candidate(limits, [&] { return ::write(ends[0], "x", 1) == 1; }), SIGSYS));
#endif
  for (const int fd : {ends[0], ends[1], others[0], others[1]}) ::close(fd);
}

TEST(Jail, ACandidateStopsItselfAlone) {
  const auto to_itself = [](int signal) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const pid_t own = ::getpid();  // not permitted later
      enter_jail(JailProfile::candidate, {}, {});
      ::_exit(::kill(own, signal));
    }
    int status = 0;
    ::waitpid(pid, &status, WUNTRACED);
    ::kill(pid, SIGKILL);
    if (WIFSTOPPED(status)) ::waitpid(pid, nullptr, 0);
    return status;
  };
  EXPECT_TRUE(WIFSTOPPED(to_itself(SIGSTOP)));
  EXPECT_TRUE(ended_by(to_itself(SIGUSR1), SIGSYS));
  EXPECT_TRUE(is_forbidden_to_a_candidate([parent = ::getpid()] { return ::kill(parent, SIGSTOP); }));
}

// Shows that the attempts succeed without a jail.
TEST(Jail, Level0LeavesOpenWhatTheNextLevelsClose) {
  const pid_t owner = ::getpid();
  const AbstractSocket socket;
  ASSERT_TRUE(socket.listens());
  EXPECT_EQ(at_level(0, reads_a_file), kPossible);
  EXPECT_EQ(at_level(0, [&] { return reads_environment_of(owner); }), kPossible);
  EXPECT_EQ(at_level(0, [&] { return signals(owner); }), kPossible);
  EXPECT_EQ(at_level(0, makes_a_socket), kPossible);
  EXPECT_EQ(at_level(0, [&] { return socket.is_reached(); }), kPossible);
}

TEST(Jail, Level1ClosesSystemCallsAndNotFiles) {
  const pid_t owner = ::getpid();
  const AbstractSocket socket;
  EXPECT_EQ(at_level(1, makes_a_socket), kNotPossible);
  EXPECT_EQ(at_level(1, [&] { return socket.is_reached(); }), kNotPossible);
  EXPECT_EQ(at_level(1, [&] { return traces(owner); }), kNotPossible);
  EXPECT_EQ(at_level(1, makes_namespaces), kNotPossible);
  EXPECT_EQ(at_level(1, [] { return ::setsid() >= 0 ? kPossible : kNotPossible; }), kNotPossible);
  EXPECT_EQ(at_level(1, reads_a_file), kPossible);
  EXPECT_EQ(at_level(1,
                     [] {
                       const pid_t pid = ::fork();  // the C library may try clone3 first
                       if (pid == 0) ::_exit(0);
                       return pid > 0 ? kPossible : kNotPossible;
                     }),
            kPossible);
}

int starts_a_thread() {
  int ran = 0;
  std::thread([&ran] { ran = 1; }).join();
  return ran == 1 ? kPossible : kNotPossible;
}

int forks() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  return pid > 0 ? kPossible : kNotPossible;
}

TEST(Jail, PythonHasThreadsAndNoProcesses) {
  const auto in_python = [](int (*act)()) {
    return exit_of_child([act] {
      enter_jail(JailProfile::python, {}, {});
      return act();
    });
  };
  EXPECT_EQ(in_python(starts_a_thread), kPossible);
  EXPECT_EQ(in_python(forks), kNotPossible);
  EXPECT_EQ(in_python(makes_a_socket), kNotPossible);
  EXPECT_EQ(in_python(makes_namespaces), kNotPossible);
}

TEST(Jail, PythonOnAGpuWaitsOnASocketAndReachesNone) {
  const AbstractSocket outside(SOCK_SEQPACKET);
  ASSERT_EQ(outside.is_reached(), kPossible);
  const auto in_python = [](const std::function<int()>& act) {
    return exit_of_child([&act] {
      enter_jail(JailProfile::gpu_python, {}, {});
      return act();
    });
  };
  EXPECT_EQ(in_python([] { return AbstractSocket(SOCK_SEQPACKET).listens() ? kPossible : kNotPossible; }), kPossible);
  EXPECT_EQ(in_python([] { return AbstractSocket(SOCK_STREAM).listens() ? kPossible : kNotPossible; }), kNotPossible);
  EXPECT_EQ(in_python([&] { return outside.is_reached(); }), kNotPossible);
  EXPECT_EQ(in_python(makes_a_socket), kNotPossible);
  EXPECT_EQ(in_python(forks), kNotPossible);
}

TEST(Jail, Level2ClosesFilesOrSaysWhyNot) {
  const int read = at_level(2, reads_a_file);
  const int environment = at_level(2, [pid = ::getpid()] { return reads_environment_of(pid); });
  const int own_environment = at_level(2, [] { return reads_environment_of(::getpid()); });
  const int expected = host_has_landlock() ? kNotPossible : kNotOnThisHost;
  EXPECT_EQ(read, expected);
  EXPECT_EQ(environment, expected);
  EXPECT_EQ(own_environment, expected);
}

// Without seccomp.
TEST(Jail, LandlockByItselfClosesFiles) {
  const auto alone = [](const std::function<int()>& attempt) {
    return exit_of_child([&] {
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      const auto shortfall = enter_landlock({});
      if (shortfall) return shortfall->why.empty() || shortfall->remedy.empty() ? kThrown : kNotOnThisHost;
      return attempt();
    });
  };
  const int expected = host_has_landlock() ? kNotPossible : kNotOnThisHost;
  EXPECT_EQ(alone(reads_a_file), expected);
  EXPECT_EQ(alone([pid = ::getpid()] { return reads_environment_of(pid); }), expected);
  EXPECT_EQ(alone([pid = ::getpid()] { return traces(pid); }), expected);
  if (landlock_abi() >= 6) {
    const AbstractSocket socket;
    EXPECT_EQ(alone([&] { return socket.is_reached(); }), kNotPossible);
    EXPECT_EQ(alone([pid = ::getpid()] { return signals(pid); }), kNotPossible);
  }
}

TEST(Jail, LandlockLeavesTheGivenFolders) {
  char folder[] = "/tmp/kernelwright-jail-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string inside = std::string(folder) + "/file";
  const JailFolders folders{{"/usr"}, {folder}};
  const auto attempt = [&](const char* path) {
    return WEXITSTATUS(status_in_jail(JailProfile::compile, folders, [&] { return opens(path, O_CREAT | O_WRONLY); }));
  };
  EXPECT_EQ(attempt(inside.c_str()), kPossible);
  const std::string beside = "/tmp/kernelwright-jail-test-beside-" + std::to_string(::getpid());
  EXPECT_EQ(attempt(beside.c_str()), host_has_landlock() ? kNotPossible : kPossible);
  ::unlink(beside.c_str());
  ::unlink(inside.c_str());
  ::rmdir(folder);
}

TEST(JailReport, StatesTheLevelAndTheObstacleToTheNext) {
  JailReport report;
  report.add(1, "seccomp", std::nullopt);
  report.add(2, "Landlock", Shortfall{"this kernel has no Landlock", "use another"});
  report.add(3, "namespaces", std::nullopt);
  EXPECT_EQ(report.level, 1);
  EXPECT_EQ(report.sentence(), "seccomp, namespaces; not level 2: this kernel has no Landlock");
  core::Json facts;
  report.describe(facts);
  EXPECT_EQ(facts.at("sandbox_level"), 1);
  const JailReport again = JailReport::of(facts);
  EXPECT_EQ(again.sentence(), report.sentence());
  EXPECT_EQ(again.missing->remedy, "use another");
}

}  // namespace
}  // namespace sandbox::jail
