// A device whose workers do not come back is set aside, with a message that says what to do.
#include "verifier/judging/run_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/paths.h"

namespace verifier::judging {
namespace {
namespace fs = std::filesystem;

// A worker program that is the cpu device's, until it is broken: then it does not start any more.
class FailingWorker {
 public:
  FailingWorker() {
    folder_ = fs::path(testing::TempDir()) / ("failing-worker-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    const core::Paths paths = core::installed_paths();
    std::ofstream script(folder_ / "worker");
    script << "#!/bin/sh\n[ ! -e '" << (folder_ / "broken").string() << "' ] || exit 1\nexec '"
           << paths.worker("cpu").string() << "' --device-headers '" << paths.device_headers().string()
           << "' --role run\n";
    script.close();
    fs::permissions(folder_ / "worker", fs::perms::owner_all);
  }
  ~FailingWorker() { fs::remove_all(folder_); }
  void break_down() const { std::ofstream(folder_ / "broken"); }
  sandbox::process::WorkerCommand command() const { return {folder_ / "worker", {}, {}}; }

 private:
  fs::path folder_;
};

TEST(RunWorkers, AContestantGetsAFreshProcessEachTime) {
  const FailingWorker program;
  RunWorkers workers(program.command(), RunWorkers::Kind::one_per_side);
  for (int i = 0; i < 6; ++i) EXPECT_NO_THROW(workers.replace(Side::candidate)) << i;
  EXPECT_EQ(workers.greeting().at("role"), "run");
}

TEST(RunWorkers, ADeviceThatFailsTwiceIsSetAside) {
  const FailingWorker program;
  RunWorkers workers(program.command(), RunWorkers::Kind::one_per_side);
  for (int i = 0; i < 4; ++i) ASSERT_NO_THROW(workers.replace(Side::candidate)) << i;
  program.break_down();
  const auto until_none_starts = [&] {
    for (int i = 0; i < 10; ++i) workers.replace(Side::candidate);  // those in reserve may have started before
  };
  try {
    until_none_starts();
    FAIL() << "no worker starts any more";
  } catch (const DeviceSetAside& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("failed 2 times in a row"));
    EXPECT_THAT(error.what(), testing::HasSubstr("nvidia-smi"));
  }
}

}  // namespace
}  // namespace verifier::judging
