#include "results/archive/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/text.h"
#include "results/archive/leaderboard.h"
#include "results/archive/problems.h"
#include "results/transfer/transfer_fixture.h"

namespace results::transfer::test {
namespace {
using namespace archive;
using namespace archive::test;

std::string refusal(const std::filesystem::path& file) {
  try {
    archive::Recorder archive(file);
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Schema, ANewArchiveIsOursAndSound) {
  const TemporaryArchive temporary;
  { const archive::Recorder archive(temporary.file()); }
  Database database(temporary.file());
  EXPECT_EQ(database.pragma("application_id"), kApplicationId);
  EXPECT_GE(database.pragma("user_version"), 1);
  Statement mode = database.prepare("PRAGMA journal_mode");
  ASSERT_TRUE(mode.step());
  EXPECT_EQ(mode.text(0), "wal");
}

TEST(Schema, OpeningAgainChangesNothing) {
  const TemporaryArchive temporary;
  { Started s(temporary.file()); }
  Database database(temporary.file());
  const int64_t version = database.pragma("user_version"), schema = database.pragma("schema_version");
  { const archive::Recorder archive(temporary.file()); }
  EXPECT_EQ(database.pragma("user_version"), version);
  EXPECT_EQ(database.pragma("schema_version"), schema);
}

int64_t newest_schema() {
  const TemporaryArchive temporary;
  { const archive::Recorder archive(temporary.file()); }
  return Database(temporary.file()).pragma("user_version");
}

// results/transfer/test_data/schema_<version>.sql: an archive of that version with a confirmed win and every other
// feature. Add one for each new schema.
void load_schema(int64_t version, const std::filesystem::path& file) {
  Database database(file);
  database.execute(
      core::read_file(KW_SOURCE_FOLDER "/results/transfer/test_data/schema_" + std::to_string(version) + ".sql"));
}

TEST(Schema, AnArchiveOfEveryVersionIsTakenOver) {
  for (int64_t version = 1; version <= newest_schema(); ++version) {
    SCOPED_TRACE(version);
    const TemporaryArchive old;
    load_schema(version, old.file());
    archive::Recorder archive(old.file());
    EXPECT_EQ(findings_in(old.file()), "");
    EXPECT_EQ(archive.count_attempts(), 6);
    const std::vector<LeaderboardRow> board = leaderboard(archive, {});
    const auto confirmed = std::find_if(board.begin(), board.end(), [](const auto& row) { return !row.library; });
    ASSERT_NE(confirmed, board.end());
    EXPECT_EQ(confirmed->attempt, 2);
    EXPECT_EQ(archive.attempt(2).measurement->workloads[0].pairs.size(), 31u);
    EXPECT_EQ(archive.attempt(2).measurement->workloads[0].bound_us.has_value(), version >= 2);
    EXPECT_EQ(archive.baselines("", "").size(), version >= 2 ? 1u : 0u);
    EXPECT_EQ(archive.newest_calibration("cuda GPU").has_value(), version >= 2);
    EXPECT_EQ(archive.newest_selftests().size(), version >= 3 ? 1u : 0u);
    EXPECT_EQ(archive.requests_of_campaign(1).size(), version >= 4 ? 2u : 0u);
    EXPECT_EQ(archive.steps_of_campaign(1).front().number, version >= 5 ? 1 : 0);
    EXPECT_EQ(problem_of_attempt(archive, 6).files.size(), version >= 8 ? 2u : 0u);
    EXPECT_EQ(archive.attempt(6).measurement->counters.size(), version >= 6 ? 1u : 0u);
    EXPECT_EQ(archive.attempt(2).measurement->workloads[0].weight, version >= 9 ? 2.5 : 1);
    // The migrated archive accepts records and exports.
    archive.add_event(1, "went on", {});
    archive.add_calibration("cuda GPU", calibration_of("GPU", 2000));
    const TemporaryArchive imported;
    import_text(exported(archive), imported.file());
    EXPECT_TRUE(exported(imported.file()) == exported(archive));
    EXPECT_EQ(findings_in(imported.file()), "");
  }
}

TEST(Schema, AnOldArchiveIsMergedAndStaysAsItWas) {
  const TemporaryArchive old, into;
  load_schema(1, old.file());
  EXPECT_GT(added_in(merge_files({old.file()}, into.file())), 0);
  EXPECT_EQ(Database(old.file()).pragma("user_version"), 1);
  EXPECT_EQ(leaderboard(archive::Recorder(into.file()), {}).size(), 1u);
}

TEST(Schema, ANewerArchiveIsRefusedAndKept) {
  const TemporaryArchive temporary;
  { const archive::Recorder archive(temporary.file()); }
  Database database(temporary.file());
  database.execute("PRAGMA user_version = 1000");
  EXPECT_NE(refusal(temporary.file()).find("newer version"), std::string::npos) << refusal(temporary.file());
  EXPECT_EQ(database.pragma("user_version"), 1000);
}

TEST(Schema, ADatabaseOfAnotherProgramIsRefusedAndKept) {
  const TemporaryArchive temporary;
  Database other(temporary.file());
  other.execute("CREATE TABLE bookmarks (url TEXT)");
  EXPECT_NE(refusal(temporary.file()).find("another program"), std::string::npos);
  Statement tables = other.prepare("SELECT count(*) FROM sqlite_master");
  ASSERT_TRUE(tables.step());
  EXPECT_EQ(tables.integer(0), 1);
}

TEST(Schema, AnotherFileIsRefusedAndKept) {
  const TemporaryArchive temporary;
  const std::string text(5000, 'x');
  std::ofstream(temporary.file()) << text;
  EXPECT_NE(refusal(temporary.file()).find("is not an archive"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(temporary.file()), text.size());
  EXPECT_FALSE(refusal(temporary.file().parent_path()).empty());  // a folder
  EXPECT_FALSE(refusal(temporary.file() / "below_a_file.db").empty());
}

TEST(Schema, JudgedResultsCannotBeChanged) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  s.archive.add_attempt(s.attempt_at(s.naive, verifier::verdicts::Effort::full, correct_judgement(2)));
  s.archive.add_event(s.campaign, "stopped", {});
  s.archive.add_calibration("cuda GPU", calibration_of("GPU", 1000));
  s.archive.add_selftest({"cpu", s.environment, 1, false, 60, 70, 0, 30, 0, 1.01, 5000, {}});
  Database database(temporary.file());
  database.execute(
      "INSERT INTO baselines (problem, device, environment, library, made, verdict, verdict_json)"
      " SELECT id, 'cuda:0', (SELECT id FROM environments), 'cublas', '', 'correct', '{}' FROM problems");
  for (const std::string table :
       {"attempts", "measurements", "timings", "compilations", "events", "calibrations", "baselines", "selftests"}) {
    EXPECT_THROW(database.execute("DELETE FROM " + table), core::SystemError) << table;
    EXPECT_THROW(database.execute("UPDATE " + table + " SET id = id + 1"), core::SystemError) << table;
    Statement rows = database.prepare("SELECT count(*) FROM " + table);
    ASSERT_TRUE(rows.step());
    EXPECT_EQ(rows.integer(0), 1) << table;
  }
}

}  // namespace
}  // namespace results::transfer::test
