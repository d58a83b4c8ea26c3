// The level of real workers, as their owner gets it.
#include <gtest/gtest.h>

#include "core/paths.h"
#include "sandbox/jail_fixture.h"
#include "sandbox/worker.h"

namespace sandbox {
namespace {

WorkerCommand command(const std::string& role) {
  const core::Paths paths = core::installed_paths();
  return {paths.worker("cpu"),
          {"--device-headers", paths.device_headers().string(), "--scratch", "/tmp", "--role", role},
          {}};
}

TEST(WorkerLevel, EveryWorkerReachesWhatTheHostAllows) {
  for (const char* role : {"compile", "judge", "run"}) {
    const Worker worker = Worker::start(command(role));
    const JailReport report = JailReport::of(worker.greeting());
    const bool cgroups = std::holds_alternative<std::filesystem::path>(find_cgroup_parent());
    const int expected = !host_has_landlock() ? 1 : !host_allows_namespaces() ? 2 : cgroups ? 4 : 3;
    EXPECT_EQ(report.level, expected) << role << ": " << report.sentence();
    EXPECT_EQ(report.missing.has_value(), expected < kHighestLevel);
    if (!report.missing) continue;
    EXPECT_FALSE(report.missing->remedy.empty());
    EXPECT_NE(worker.greeting().at("sandbox").get<std::string>().find("; not level " + std::to_string(expected + 1)),
              std::string::npos);
  }
}

TEST(WorkerLevel, BelowTheRequiredLevelItIsNotKept) {
  WorkerCommand launched = command("run");
  launched.launcher = {"/usr/bin/env"};  // may start it anywhere, so its cgroup cannot be vouched for
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

}  // namespace
}  // namespace sandbox
