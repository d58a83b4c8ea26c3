// A device whose workers do not come back is set aside, with a message that says what to do.
#include "verifier/run_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/paths.h"

namespace verifier {
namespace {
namespace fs = std::filesystem;

// A worker program that is the cpu device's for its first launches, and then does not start any more.
class FailingWorker {
 public:
  explicit FailingWorker(int good_launches) {
    folder_ = fs::path(testing::TempDir()) / ("failing-worker-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    std::ofstream(folder_ / "launches");
    const core::Paths paths = core::installed_paths();
    std::ofstream script(folder_ / "worker");
    script << "#!/bin/sh\nn=0\nwhile read -r _; do n=$((n+1)); done < '" << (folder_ / "launches").string()
           << "'\necho x >> '" << (folder_ / "launches").string() << "'\n[ $n -lt " << good_launches << " ] || exit 1\n"
           << "exec '" << paths.worker("cpu").string() << "' --device-headers '" << paths.device_headers().string()
           << "' --role run\n";
    script.close();
    fs::permissions(folder_ / "worker", fs::perms::owner_all);
  }
  ~FailingWorker() { fs::remove_all(folder_); }
  sandbox::WorkerCommand command() const { return {folder_ / "worker", {}, {}}; }

 private:
  fs::path folder_;
};

TEST(RunWorkers, AContestantGetsAFreshProcessEachTime) {
  const FailingWorker program(100);
  RunWorkers workers(program.command(), RunWorkers::Kind::one_per_contestant);
  for (int i = 0; i < 6; ++i) EXPECT_NO_THROW(workers.replace(Contestant::candidate)) << i;
  EXPECT_EQ(workers.greeting().at("role"), "run");
}

TEST(RunWorkers, ADeviceThatFailsTwiceIsSetAside) {
  const FailingWorker program(6);  // two in use and four in reserve
  RunWorkers workers(program.command(), RunWorkers::Kind::one_per_contestant);
  for (int i = 0; i < 4; ++i) ASSERT_NO_THROW(workers.replace(Contestant::candidate)) << i;
  try {
    workers.replace(Contestant::candidate);
    FAIL() << "no worker starts any more";
  } catch (const DeviceSetAside& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("failed 2 times in a row"));
    EXPECT_THAT(error.what(), testing::HasSubstr("nvidia-smi"));
  }
}

}  // namespace
}  // namespace verifier
