// Damaged archives give clear messages and lose nothing verified: cut off, overwritten, without a log, with another's
// log, full disk, read-only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "core/text.h"
#include "results/archive/database.h"
#include "results/archive/leaderboard.h"
#include "results/archive/records.h"
#include "results/transfer/transfer_fixture.h"

namespace results::transfer::test {
namespace {
using namespace archive;
using namespace archive::test;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

// The message when the whole archive is read; "" if it is sound.
std::string said_of(const fs::path& file) {
  try {
    const archive::Recorder archive(file);
    std::string findings;
    for (const Finding& f : verify(archive)) findings += f.table + ": " + f.what + "\n";
    return findings;
  } catch (const core::InputError& error) {
    return error.what();
  }
}

// Puts everything into the file itself, nothing into a log.
void make_rich(const fs::path& file, int64_t attempts = 40) {
  Rich rich(file);
  for (int64_t i = 0; i < attempts; ++i) add_attempt(rich, 10 + i);
}

void overwrite(const fs::path& file, size_t at, const std::string& bytes) {
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(at));
  out << bytes;
}

// Runs `body` in its own process, as nobody if this is root (who ignores permissions). Returns its result.
std::string as_nobody(const fs::path& folder, const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) throw core::SystemError("pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0) {
      for (const auto& entry : fs::directory_iterator(folder)) {
        if (::chown(entry.path().c_str(), 65534, 65534) != 0) ::_exit(1);
      }
      if (::chown(folder.c_str(), 65534, 65534) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(1);
    }
    std::string text;
    try {
      text = body();
    } catch (const std::exception& error) {
      text = error.what();
    }
    const bool told = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) said.append(buffer, static_cast<size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return said;
}

std::string read_all(const fs::path& file) {
  const archive::Recorder archive(file);
  return std::to_string(leaderboard(archive, {}).size()) + " ranked, " + std::to_string(archive.count_attempts()) +
         " attempts, " + std::to_string(archive.attempt(2).measurement->workloads[0].pairs.size()) + " pairs, " +
         std::to_string(verify(archive).size()) + " findings, " + std::to_string(exported(archive).size() > 1000);
}

TEST(Damage, AFileThatIsCutOffSaysSoAndHowToGoOn) {
  for (const double share : {0.95, 0.5, 0.1}) {
    const TemporaryArchive temporary;
    make_rich(temporary.file());
    fs::resize_file(temporary.file(),
                    static_cast<uintmax_t>(share * static_cast<double>(fs::file_size(temporary.file()))));
    EXPECT_THAT(said_of(temporary.file()), AnyOf(HasSubstr("malformed"), HasSubstr("page"))) << share;
  }
  const TemporaryArchive temporary;
  make_rich(temporary.file());
  fs::resize_file(temporary.file(), 50);  // not even its first page
  EXPECT_THAT(said_of(temporary.file()), HasSubstr("kernelwright archive backup"));
}

TEST(Damage, GarbageInTheMiddleIsFoundWhereverItIs) {
  const TemporaryArchive temporary;
  make_rich(temporary.file());
  const auto pages = static_cast<int>(fs::file_size(temporary.file()) / 4096);
  ASSERT_GT(pages, 20);
  for (int page = 1; page < pages; page += 7) {
    const TemporaryArchive damaged;
    fs::copy_file(temporary.file(), damaged.file());
    overwrite(damaged.file(), static_cast<size_t>(page) * 4096, std::string(4096, '\x5a'));
    EXPECT_NE(said_of(damaged.file()), "") << page;
  }
  overwrite(temporary.file(), 0, std::string(100, '\x5a'));  // the header
  EXPECT_THAT(said_of(temporary.file()), HasSubstr("is not an archive"));
}

TEST(Damage, SoundRecordsOfADamagedArchiveAreSaved) {
  const TemporaryArchive temporary;
  make_rich(temporary.file());
  const auto pages = static_cast<int>(fs::file_size(temporary.file()) / 4096);
  int64_t most = 0;
  for (int page = 2; page < pages; page += 5) {
    const TemporaryArchive damaged, saved;
    fs::copy_file(temporary.file(), damaged.file());
    overwrite(damaged.file(), static_cast<size_t>(page) * 4096, std::string(4096, '\x5a'));
    Sources sources;
    Salvaged salvaged;
    try {
      salvaged = sources.salvage(damaged.file());
    } catch (const core::InputError&) {
      continue;  // the page that lists the tables
    }
    archive::Recorder into(saved.file());
    sources.merge_into(into);
    EXPECT_EQ(into.count_attempts(), salvaged.kept["attempts"]);
    for (const Finding& f : verify(into)) EXPECT_EQ(f.table, "campaigns") << f.what;  // missing steps
    most = std::max(most, into.count_attempts());
  }
  EXPECT_EQ(most, 45);  // all, if an index was damaged
}

TEST(Damage, RecordsBeforeTheCutOfAnArchiveAreSaved) {
  const TemporaryArchive whole;
  make_rich(whole.file());
  {
    Started more(whole.file(), "another");
    for (int64_t block = 1; block <= 400; ++block) add_attempt(more, block);
  }
  const int64_t all = archive::Recorder(whole.file()).count_attempts();
  int64_t before = 0;
  for (const double share : {0.4, 0.6, 0.8, 0.95}) {
    SCOPED_TRACE(share);
    const TemporaryArchive cut, saved;
    fs::copy_file(whole.file(), cut.file());
    const auto size = static_cast<uintmax_t>(share * static_cast<double>(fs::file_size(cut.file())));
    fs::resize_file(cut.file(), size);
    Sources sources;
    Salvaged salvaged;
    ASSERT_NO_THROW(salvaged = sources.salvage(cut.file()));
    ASSERT_FALSE(salvaged.lost.empty());
    archive::Recorder into(saved.file());
    sources.merge_into(into);
    EXPECT_EQ(into.count_attempts(), salvaged.kept["attempts"]);
    EXPECT_EQ(into.campaigns().size(), 2u);
    EXPECT_GE(into.count_attempts(), before) << salvaged.lost[0].table << ": " << salvaged.lost[0].what;
    EXPECT_LT(into.count_attempts(), all);
    EXPECT_EQ(fs::file_size(cut.file()), size) << "the damaged archive does not change";
    before = into.count_attempts();
  }
  EXPECT_GT(before, all * 3 / 4);
}

TEST(Damage, AnArchiveOfWhichNothingIsLeftIsNotSentToRecoverAgain) {
  const TemporaryArchive cut;
  make_rich(cut.file());
  fs::resize_file(cut.file(), 4096);
  try {
    Sources().salvage(cut.file());
    ADD_FAILURE() << "was saved";
  } catch (const core::InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("holds nothing that could be saved"), HasSubstr("archive backup"),
                                    Not(HasSubstr("recover"))));
  }
}

TEST(Damage, AFlippedBitInAResultIsFound) {
  const TemporaryArchive temporary;
  make_rich(temporary.file());
  std::string bytes = core::read_file(temporary.file());
  const std::string sample = "\"launches\":12";
  const size_t at = bytes.find(sample);
  ASSERT_NE(at, std::string::npos);
  overwrite(temporary.file(), at, "\"launcheS\":12");
  EXPECT_THAT(said_of(temporary.file()), HasSubstr("field \"launches\" is missing"));
}

TEST(Damage, ALogThatIsLostOrNotOursLosesNoMoreThanItHeld) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const fs::path kept = temporary.file().parent_path() / "kept.db";
  add_attempt(s, 1);
  Database other(temporary.file());
  other.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  add_attempt(s, 2);
  const fs::path log = temporary.file().string() + "-wal";
  // Copies the file without its log, as an unaware user might.
  fs::copy_file(temporary.file(), kept);
  EXPECT_EQ(said_of(kept), "");
  EXPECT_EQ(archive::Recorder(kept).count_attempts(), 1);
  fs::remove(kept);
  // With its log, the copy is complete.
  fs::copy_file(temporary.file(), kept);
  fs::copy_file(log, kept.string() + "-wal");
  EXPECT_EQ(archive::Recorder(kept).count_attempts(), 2);
  fs::remove(kept);
  fs::copy_file(temporary.file(), kept);
  std::ofstream(kept.string() + "-wal", std::ios::binary) << std::string(40000, '\x5a');
  EXPECT_EQ(said_of(kept), "");
  EXPECT_EQ(archive::Recorder(kept).count_attempts(), 1);
}

TEST(Damage, AnotherFileIsRefused) {
  const TemporaryArchive temporary;
  const fs::path folder = temporary.file().parent_path();
  EXPECT_THAT(said_of(folder), HasSubstr("cannot be opened"));
  std::ofstream(temporary.file()) << "Dear diary, " << std::string(4000, 'x');
  EXPECT_THAT(said_of(temporary.file()), AllOf(HasSubstr("is not an archive"), HasSubstr("--archive")));
  const TemporaryArchive future;
  { const archive::Recorder archive(future.file()); }
  Database(future.file()).execute("PRAGMA user_version = 99");
  EXPECT_THAT(said_of(future.file()), AllOf(HasSubstr("schema 99"), HasSubstr("update kernelwright")));
  EXPECT_THAT(said_of("/proc/none/archive.db"), HasSubstr("/proc/none/archive.db"));
}

TEST(Damage, AFileThatMayNotBeWrittenIsReadAndNothingElse) {
  const TemporaryArchive temporary;
  make_rich(temporary.file(), 1);
  const fs::path folder = temporary.file().parent_path();
  const std::string all = read_all(temporary.file());
  const auto add = [&]() -> std::string {
    archive::Recorder(temporary.file()).add_event(std::nullopt, "written", {});
    return "written";
  };
  const auto with = [&](fs::perms of_file, fs::perms of_folder, const std::function<std::string()>& body) {
    fs::permissions(temporary.file(), of_file);
    fs::permissions(folder, of_folder);
    const std::string said = as_nobody(folder, body);
    fs::permissions(folder, fs::perms::owner_all);
    fs::permissions(temporary.file(), fs::perms::owner_all);
    return said;
  };
  const auto reading = [&] { return read_all(temporary.file()); };
  constexpr auto kRead = fs::perms::owner_read, kEnter = kRead | fs::perms::owner_exec;
  EXPECT_EQ(with(kRead, fs::perms::owner_all, reading), all);
  EXPECT_EQ(with(kRead, kEnter, reading), all);
  EXPECT_EQ(with(kRead | fs::perms::owner_write, kEnter, reading), all);
  for (const auto of_folder : {fs::perms::owner_all, kEnter}) {
    EXPECT_THAT(with(kRead, of_folder, add), AllOf(HasSubstr("may not be written"), HasSubstr("--archive")));
  }
  EXPECT_THAT(with(fs::perms::none, fs::perms::owner_all, reading), HasSubstr("cannot be opened: Permission denied"));
  // An archive of an earlier version would need migration first.
  Database(temporary.file()).execute("PRAGMA journal_mode = DELETE; PRAGMA user_version = 6");
  EXPECT_THAT(with(kRead, kEnter, reading), AllOf(HasSubstr("earlier version"), HasSubstr("copy it")));
}

TEST(Damage, AFullDiskKeepsCommittedData) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  add_attempt(s, 1);
  Database& database = database_of(s.archive);
  database.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA max_page_count = " +
                   std::to_string(database.pragma("page_count") + 3));
  int64_t added = 1;
  try {
    for (; added < 1000; ++added) add_attempt(s, 1 + added);
    FAIL() << "there was room";
  } catch (const NoRoom& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("cannot be written"), HasSubstr("make room")));
  }
  EXPECT_EQ(s.archive.count_attempts(), added);
  EXPECT_EQ(said_of(temporary.file()), "");
  database.pragma("max_page_count = 1000000");
  add_attempt(s, 1 + added);
  EXPECT_EQ(archive::Recorder(temporary.file()).count_attempts(), added + 1);
}

// Like a quota: the system refuses to let the file grow.
TEST(Damage, AFileThatMayNotGrowKeepsCommittedData) {
  const TemporaryArchive temporary;
  const fs::path file = temporary.file();
  make_rich(file, 1);
  const std::string said = as_nobody(file.parent_path(), [&]() -> std::string {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{fs::file_size(file) + 100'000, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return "no limit";
    Started s(file);
    for (int64_t i = 0; i < 10'000; ++i) add_attempt(s, 100 + i);
    return "there was room";
  });
  EXPECT_THAT(said, HasSubstr("cannot be written"));
  EXPECT_EQ(said_of(file), "");
  EXPECT_GT(archive::Recorder(file).count_attempts(), 6);
}

// Two processes write at once: neither loses a row or sees a locked archive.
TEST(Damage, TwoCampaignsShareAnArchive) {
  const TemporaryArchive temporary;
  constexpr int64_t kEach = 60;
  std::vector<pid_t> writers;
  for (int i = 0; i < 2; ++i) {
    writers.push_back(::fork());
    if (writers.back() != 0) continue;
    try {
      Started s(temporary.file());
      for (int64_t n = 0; n < kEach; ++n) {
        add_attempt(s, n);
        add_exchange(s, n + 1);
        s.archive.add_event(s.campaign, "time", {});
      }
      ::_exit(0);
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  for (const pid_t writer : writers) {
    int status = 0;
    ::waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const archive::Recorder archive(temporary.file());
  EXPECT_EQ(archive.count_attempts(), 2 * kEach);
  ASSERT_EQ(archive.campaigns().size(), 2u);
  for (const CampaignRecord& campaign : archive.campaigns()) {
    EXPECT_EQ(archive.steps_of_campaign(campaign.id).size(), static_cast<size_t>(4 * kEach));
  }
  EXPECT_EQ(said_of(temporary.file()), "");
}

// A backup and an import run while a campaign writes; a killed import adds nothing.
TEST(Damage, AKilledImportLeavesTheArchiveAsItWas) {
  const TemporaryArchive from, to;
  make_rich(from.file(), 200);
  make_rich(to.file(), 3);
  const std::string before = exported(to.file());
  int caught = 0;
  for (int record = 1; record <= 400; record += 57) {
    const pid_t child = ::fork();
    if (child == 0) {
      Sources sources;
      sources.add_archive(from.file());
      archive::Recorder target(to.file());
      // The progress callback ends the process in the middle.
      int64_t seen = 0;
      sources.merge_into(target, [&](int64_t, int64_t) {
        if (++seen >= record) ::raise(SIGKILL);
      });
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    caught += WIFSIGNALED(status) ? 1 : 0;
    EXPECT_TRUE(exported(to.file()) == before) << record;
  }
  EXPECT_GT(caught, 5);
  EXPECT_EQ(said_of(to.file()), "");
  EXPECT_GT(added_in(merge_files({from.file()}, to.file())), 200);
}

TEST(Damage, ABackupOfACampaignThatWritesIsSound) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  add_attempt(s, 1);
  const pid_t writer = ::fork();
  if (writer == 0) {
    Started other(temporary.file());
    for (int64_t i = 0;; ++i) add_attempt(other, i);
  }
  for (int i = 0; i < 5; ++i) {
    const fs::path copy = temporary.file().parent_path() / ("copy" + std::to_string(i) + ".db");
    back_up(s.archive, copy);
    EXPECT_EQ(said_of(copy), "");
  }
  ::kill(writer, SIGKILL);
  int status = 0;
  ::waitpid(writer, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(said_of(temporary.file()), "");
}

}  // namespace
}  // namespace results::transfer::test
