#include "sandbox/process/turns.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

namespace sandbox::process {
namespace {
using namespace std::chrono_literals;

class TurnsTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Turns open() const { return Turns(file_of_turns(folder_, "0123")); }
  bool waits(const std::future<void>& one) const { return one.wait_for(50ms) == std::future_status::timeout; }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("kw_turns_" + std::to_string(::getpid())) / "new";
};

TEST_F(TurnsTest, AreTakenBesideOthersOrAlone) {
  const Turns a = open(), b = open(), c = open();
  auto first = std::make_optional(a.beside_others());
  auto second = std::make_optional(b.beside_others());
  std::atomic<bool> over = false;
  auto alone = std::async(std::launch::async, [&] {
    const auto turn = c.alone();
    while (!over) std::this_thread::yield();
  });
  EXPECT_TRUE(waits(alone));
  first.reset();
  EXPECT_TRUE(waits(alone));
  // Who asks now comes behind the one that waits.
  auto later = std::async(std::launch::async, [&] { const auto turn = a.beside_others(); });
  EXPECT_TRUE(waits(later));
  second.reset();
  EXPECT_TRUE(waits(later));
  over = true;
  alone.get();
  later.get();
}

TEST_F(TurnsTest, EndWithTheirProcess) {
  const Turns mine = open();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Turns own = open();
    const auto turn = own.alone();
    ::_exit(0);  // no destructor runs
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  auto taken = std::async(std::launch::async, [&] { const auto turn = mine.alone(); });
  ASSERT_EQ(taken.wait_for(10s), std::future_status::ready);
}

TEST_F(TurnsTest, BeginAtOnceWhereThereIsNoFile) {
  const Turns none, nowhere(file_of_turns("/proc/nowhere", "0123")), nameless(file_of_turns(folder_, ""));
  for (const Turns* turns : {&none, &nowhere, &nameless}) {
    const auto alone = turns->alone(), another = turns->alone();
  }
}

}  // namespace
}  // namespace sandbox::process
