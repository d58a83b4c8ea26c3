#include "sandbox/jail/cgroup.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "sandbox/jail/jail_fixture.h"

namespace sandbox::jail {
namespace {
namespace fs = std::filesystem;

// A folder that imitates a host: mounts, the cgroup of this process, and cgroups below the mount.
class LookingForCgroups : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/kernelwright-cgroup-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    host_ = name;
    write("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
    write("proc/self/cgroup", "1:name=systemd:/\n0::/user/scope\n");
  }
  void TearDown() override { fs::remove_all(host_); }

  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((host_ / file).parent_path());
    std::ofstream(host_ / file) << text;
  }
  void cgroup(const std::string& name, const std::string& handed_out, const std::string& processes) const {
    const fs::path folder = fs::path("sys/fs/cgroup") / name;
    write(folder / "cgroup.controllers", "cpu memory pids\n");
    write(folder / "cgroup.subtree_control", handed_out);
    write(folder / "cgroup.procs", processes);
  }
  std::string found() const {
    const auto parent = find_cgroup_parent(host_);
    if (const auto* shortfall = std::get_if<Shortfall>(&parent)) {
      return shortfall->remedy.empty() ? "no remedy" : shortfall->why;
    }
    return std::get<fs::path>(parent).lexically_relative(host_).string();
  }

  fs::path host_;
};

TEST_F(LookingForCgroups, TheNearestThatHandsOutMemoryAndProcessesIsTaken) {
  cgroup("", "memory pids\n", "");
  cgroup("user", "cpu memory pids\n", "");
  cgroup("user/scope", "memory pids\n", "");
  EXPECT_EQ(found(), "sys/fs/cgroup/user/scope");
}

TEST_F(LookingForCgroups, RootStaysInsideItsOwn) {
  cgroup("", "memory pids\n", "");
  cgroup("user", "memory pids\n", "");
  cgroup("user/scope", "", "4242\n");
  write("sys/fs/cgroup/user/scope/cgroup.controllers", "cpu\n");
  EXPECT_EQ(found(),
            ::geteuid() == 0 ? "other processes share the cgroup that this one would divide" : "sys/fs/cgroup/user");
}

TEST_F(LookingForCgroups, EachReasonWhyThereIsNoneHasItsSentence) {
  write("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n");
  EXPECT_EQ(found(), "no cgroup v2 is mounted here");
  write("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/cgroup.controllers", "hugetlb\n");
  EXPECT_EQ(found(), "cgroup v2 on this host does not control memory and processes");
  cgroup("", "memory pids\n", "");
  write("proc/self/cgroup", "0::/../elsewhere\n");
  EXPECT_EQ(found(), "the cgroup of this process is not mounted here");
}

// Uses real cgroups if this host has them; otherwise checks that the stated reason is true.
TEST(Cgroup, HoldsProcessesAndEndsThemOrSaysWhyNot) {
  CgroupLimits limits;
  limits.processes = 8;
  auto made = Cgroup::make(limits);
  if (const auto* shortfall = std::get_if<Shortfall>(&made)) {
    EXPECT_FALSE(shortfall->why.empty());
    EXPECT_FALSE(shortfall->remedy.empty());
    const auto parent = find_cgroup_parent();
    EXPECT_TRUE(std::holds_alternative<Shortfall>(parent) || ::geteuid() != 0) << shortfall->why;
    return;
  }
  std::optional<Cgroup> group(std::move(std::get<Cgroup>(made)));
  const fs::path folder = group->folder();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setsid();  // leaves our process group
    char forked = 0;
    if (::write(group->entrance(), "0", 1) == 1) {
      while (forked < 32 && ::fork() > 0) ++forked;
    }
    if (::write(ends[1], &forked, 1) != 1) ::_exit(1);
    ::pause();
  }
  ::close(ends[1]);
  char forked = 0;
  ASSERT_EQ(::read(ends[0], &forked, 1), 1);
  EXPECT_TRUE(group->holds(pid));
  EXPECT_LT(forked, 9);
  group.reset();
  ::waitpid(pid, nullptr, 0);
  while (::read(ends[0], &forked, 1) > 0) {  // until all forked processes are gone
  }
  ::close(ends[0]);
  EXPECT_FALSE(fs::exists(folder));
}

TEST(Cgroup, OnlyRemainsOfADeadProgramAreRemoved) {
  char name[] = "/tmp/kernelwright-cgroup-test-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const fs::path parent = name;
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  const std::string number = std::to_string(dead), own = std::to_string(::getpid());
  const fs::path left = parent / ("kernelwright-" + number + "-77-1");
  const fs::path reused = parent / ("kernelwright-" + own + "-1-1");  // our id, but another start time
  const fs::path strange = parent / ("kernelwright-" + number + "-77-2");
  const fs::path other = parent / "user.slice", unlike = parent / "kernelwright-notes";
  for (const fs::path& folder : {left, reused, strange, other, unlike}) fs::create_directory(folder);
  std::ofstream(strange / "cgroup.procs") << "0\n";  // its processes are in a PID namespace that is not ours
  sweep_stale_cgroups(parent);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_FALSE(fs::exists(reused));
  EXPECT_TRUE(fs::exists(strange));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(fs::exists(unlike));
  fs::remove_all(parent);
}

}  // namespace
}  // namespace sandbox::jail
