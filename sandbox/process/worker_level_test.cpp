// The sandbox level of real workers, as their owner sees it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/paths.h"
#include "core/text.h"
#include "sandbox/jail/jail_fixture.h"
#include "sandbox/process/worker.h"

namespace sandbox::process {
namespace {

WorkerCommand command(const std::string& role) {
  const core::Paths paths = core::installed_paths();
  return {paths.worker("cpu"),
          {"--device-headers", paths.device_headers().string(), "--scratch", "/tmp", "--role", role},
          {}};
}

TEST(WorkerLevel, EveryWorkerReachesTheHostsLevel) {
  for (const char* role : {"compile", "judge", "run"}) {
    const Worker worker = Worker::start(command(role));
    const jail::JailReport report = jail::JailReport::of(worker.greeting());
    const bool cgroups = std::holds_alternative<std::filesystem::path>(jail::find_cgroup_parent());
    const int expected = !jail::host_has_landlock() ? 1 : !jail::host_allows_namespaces() ? 2 : cgroups ? 4 : 3;
    EXPECT_EQ(report.level, expected) << role << ": " << report.sentence();
    EXPECT_EQ(report.missing.has_value(), expected < jail::kHighestLevel);
    if (!report.missing) continue;
    EXPECT_FALSE(report.missing->remedy.empty());
    EXPECT_NE(worker.greeting().at("sandbox").get<std::string>().find("; not level " + std::to_string(expected + 1)),
              std::string::npos);
  }
}

TEST(WorkerLevel, BelowTheRequiredLevelItIsNotKept) {
  WorkerCommand launched = command("run");
  launched.launcher = {"/usr/bin/env"};  // a launcher may start it on another host, so its cgroup is unknown
  launched.required_level = 4;
  try {
    Worker::start(launched);
    FAIL() << "it started";
  } catch (const LevelNotReached& refusal) {
    const std::string what = refusal.what();
    EXPECT_NE(what.find("the sandbox of the run worker reaches level "), std::string::npos) << what;
    EXPECT_NE(what.find("level 4 is required: "), std::string::npos) << what;
    EXPECT_NE(what.find("\n  "), std::string::npos) << what;  // the remedy
  }
  launched.required_level = 1;
  EXPECT_GE(Worker::start(launched).greeting().at("sandbox_level").get<int>(), 1);
}

// A file that the owner inherited, as from shells and schedulers.
TEST(WorkerLevel, NoDescriptorIsInherited) {
  const std::string folder = testing::TempDir() + "/kernelwright-descriptors-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const int left_open = ::fcntl(STDIN_FILENO, F_DUPFD, 77);
  {
    const std::string number = std::to_string(left_open);
    std::ofstream script(folder + "/worker");
    script << "#!/bin/sh\nif [ -e /proc/self/fd/" << number << " ]; then echo open > '" << folder
           << "/found'; else echo closed > '" << folder << "/found'; fi\n";
    script.close();
    std::filesystem::permissions(folder + "/worker", std::filesystem::perms::owner_all);
  }
  EXPECT_THROW(Worker::start({folder + "/worker", {}, {}}), core::SystemError);  // it does not greet
  ::close(left_open);
  EXPECT_EQ(core::read_file(folder + "/found"), "closed\n");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sandbox::process
