// Namespaces alone, without the system call filter before them. Where a host forbids them, the report must say so.
#include "sandbox/jail/namespaces.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sandbox/jail/jail_fixture.h"

namespace sandbox::jail {
namespace {

int inside(Pids pids, const std::function<int()>& attempt) {
  return exit_of_child([&] {
    const Namespaces entered = enter_namespaces(pids);
    if (entered.missing) {
      return entered.missing->why.empty() || entered.missing->remedy.empty() ? kThrown : kNotOnThisHost;
    }
    return attempt();
  });
}

int expected(int where_it_is_allowed) { return host_allows_namespaces() ? where_it_is_allowed : kNotOnThisHost; }

TEST(Namespaces, TheRestOfTheHostIsOutOfReach) {
  const pid_t owner = ::getpid();
  const AbstractSocket socket;
  ASSERT_TRUE(socket.listens());
  for (const Pids pids : {Pids::shared, Pids::own}) {
    EXPECT_EQ(inside(pids, [&] { return socket.is_reached(); }), expected(kNotPossible));
    EXPECT_EQ(inside(pids, [&] { return reads_environment_of(owner); }), expected(kNotPossible));
    EXPECT_EQ(inside(pids, [&] { return traces(owner); }), expected(kNotPossible));
    EXPECT_EQ(inside(pids, has_capabilities), expected(kNotPossible));
    EXPECT_EQ(inside(pids, [user = ::geteuid()] { return ::geteuid() == user ? 0 : 1; }), expected(0));
  }
  EXPECT_EQ(inside(Pids::own, [&] { return signals(owner); }), expected(kNotPossible));
  EXPECT_EQ(inside(Pids::own, [&] { return ::getpid(); }), expected(1));
}

TEST(Namespaces, WhoWaitsOutsideEndsAsTheOneInside) {
  EXPECT_EQ(inside(Pids::own, [] { return 7; }), expected(7));
  EXPECT_EQ(inside(Pids::own, []() -> int { __builtin_trap(); }), expected(128 + SIGILL));
}

// The state letter of a process; 0 when there is none.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');
  return name_end == std::string::npos ? '\0' : text.at(name_end + 2);
}

TEST(Namespaces, WhoIsInsideEndsWithTheOneOutside) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t outside = ::fork();
  if (outside == 0) {
    const Namespaces entered = enter_namespaces(Pids::own);
    const char ready = entered.missing ? 'n' : 'y';
    if (::write(ends[1], &ready, 1) != 1) ::_exit(1);
    if (!entered.missing && ::fork() == 0) ::pause();
    ::pause();
  }
  ::close(ends[1]);
  char ready = 0;
  ASSERT_EQ(::read(ends[0], &ready, 1), 1);
  EXPECT_EQ(ready == 'y', host_allows_namespaces());
  pid_t first = 0;
  std::ifstream("/proc/" + std::to_string(outside) + "/task/" + std::to_string(outside) + "/children") >> first;
  EXPECT_EQ(first > 0, ready == 'y');
  ::kill(outside, SIGKILL);
  ::waitpid(outside, nullptr, 0);
  for (int i = 0; i < 2000 && first > 0 && state_of(first) != '\0' && state_of(first) != 'Z'; ++i) ::usleep(1000);
  EXPECT_TRUE(first == 0 || state_of(first) == '\0' || state_of(first) == 'Z');
  // Both inner processes held the pipe: it ends when they are gone.
  EXPECT_EQ(::read(ends[0], &ready, 1), 0);
  ::close(ends[0]);
}

int try_it(bool works_inside, const std::function<int(const Namespaces&)>& then) {
  return exit_of_child([&] {
    NamespaceTrial trial = NamespaceTrial::begin(Pids::shared);
    if (!works_inside && !trial.namespaces().missing) trial.fall_back({"it does\nnot open", "mend it"});
    trial.keep();
    return then(trial.namespaces());
  });
}

TEST(Namespaces, AFailedStepIsRepeatedOutside) {
  EXPECT_EQ(try_it(true, [](const Namespaces& in) { return in.missing ? kNotOnThisHost : 0; }), expected(0));
  const int reported = try_it(false, [](const Namespaces& in) {
    if (!in.missing) return 1;
    return in.missing->why == "it does not open" && in.missing->remedy == "mend it" ? 0 : kNotOnThisHost;
  });
  EXPECT_EQ(reported, expected(0));
}

TEST(Namespaces, AProcessThatDiesInsideIsTriedOutside) {
  const int reported = exit_of_child([] {
    const NamespaceTrial trial = NamespaceTrial::begin(Pids::shared);
    if (!trial.namespaces().missing) ::raise(SIGKILL);
    return trial.namespaces().missing->why.empty() ? 1 : 0;
  });
  EXPECT_EQ(reported, 0);
}

}  // namespace
}  // namespace sandbox::jail
