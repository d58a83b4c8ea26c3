// kill -9 at any moment loses at most the attempt in flight: tried at 50 random moments on one archive.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>
#include <set>
#include <thread>

#include "core/unique_fd.h"
#include "results/transfer/transfer_fixture.h"

namespace results::transfer::test {
namespace {
using namespace archive;
using namespace archive::test;

// Adds attempts until it is killed, and reports each id once it is committed.
[[noreturn]] void add_forever(const std::filesystem::path& file, int report_fd) {
  Started s(file);
  for (int i = 0;; ++i) {
    const int64_t candidate = s.add_candidate("point", "seed", {{"X", i}});
    NewAttempt attempt = s.attempt_at(candidate, verifier::verdicts::Effort::confirm, correct_judgement(1.5, 61));
    attempt.seconds = 0.5;
    const int64_t id = s.archive.add_attempt(attempt);
    if (::write(report_fd, &id, sizeof id) != sizeof id) ::_exit(1);
  }
}

// Starts add_forever, kills it after a while and returns what it reported.
std::vector<int64_t> killed_after(const std::filesystem::path& file, std::chrono::microseconds delay) {
  int ends[2];
  if (::pipe(ends) != 0) throw core::SystemError("pipe");
  core::UniqueFd reading(ends[0]), writing(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    reading.reset();
    add_forever(file, writing.get());
  }
  writing.reset();
  std::vector<int64_t> reported;
  int64_t id = 0;
  if (::read(reading.get(), &id, sizeof id) == sizeof id) reported.push_back(id);  // it has started
  std::this_thread::sleep_for(delay);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  while (::read(reading.get(), &id, sizeof id) == sizeof id) reported.push_back(id);
  return reported;
}

int64_t count(Database& database, const std::string& sql) {
  Statement statement = database.prepare("SELECT count(*) " + sql);
  return statement.step() ? statement.integer(0) : -1;
}

TEST(ArchiveCrash, KillAtFiftyMomentsLosesAtMostTheAttemptInFlight) {
  const TemporaryArchive temporary;
  std::mt19937 chance(20261121);
  std::set<int64_t> reported;
  for (int round = 1; round <= 50; ++round) {
    const auto delay = std::chrono::microseconds(chance() % 20000);
    const std::vector<int64_t> now = killed_after(temporary.file(), delay);
    ASSERT_FALSE(now.empty());
    reported.insert(now.begin(), now.end());

    Database database(temporary.file());
    Statement check = database.prepare("PRAGMA integrity_check");
    ASSERT_TRUE(check.step());
    ASSERT_EQ(check.text(0), "ok") << "round " << round;
    // Every reported attempt is there. Each round may have committed one more that it could not report.
    const int64_t kept = count(database, "FROM attempts");
    ASSERT_GE(kept, static_cast<int64_t>(reported.size()));
    ASSERT_LE(kept, static_cast<int64_t>(reported.size()) + round);
    // No attempt is partial.
    ASSERT_EQ(count(database, "FROM measurements"), kept);
    ASSERT_EQ(count(database, "FROM timings"), kept);
    ASSERT_EQ(count(database, "FROM compilations"), kept);
  }
  EXPECT_EQ(findings_in(temporary.file()), "");
  const archive::Recorder archive(temporary.file());
  for (const int64_t id : reported) ASSERT_EQ(archive.attempt(id).measurement->workloads[0].pairs.size(), 61u) << id;
  // Spending is known to within the attempt in flight.
  ASSERT_EQ(archive.campaigns().size(), 50u);
  for (const CampaignRecord& campaign : archive.campaigns()) {
    EXPECT_EQ(campaign.status, "killed");
    EXPECT_GE(campaign.spent_seconds, 0.5 * static_cast<double>(campaign.attempts - 1));
    EXPECT_LE(campaign.spent_seconds, 0.5 * static_cast<double>(campaign.attempts));
  }
}

}  // namespace
}  // namespace results::transfer::test
