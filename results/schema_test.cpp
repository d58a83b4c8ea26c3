#include "results/schema.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "results/archive_fixture.h"

namespace results {
namespace {

std::string refusal(const std::filesystem::path& file) {
  try {
    Archive archive(file);
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Schema, ANewArchiveIsOursAndSound) {
  const TemporaryArchive temporary;
  { const Archive archive(temporary.file()); }
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
  { const Archive archive(temporary.file()); }
  EXPECT_EQ(database.pragma("user_version"), version);
  EXPECT_EQ(database.pragma("schema_version"), schema);
}

// What later versions added is taken away again, so that the archive is as the first version made it.
TEST(Schema, AnArchiveOfTheFirstVersionIsTakenOver) {
  const TemporaryArchive temporary;
  int64_t id = 0;
  {
    Started s(temporary.file());
    id = s.archive.add_attempt(s.attempt_at(s.naive, verifier::Effort::full, correct_judgement(2)));
  }
  {
    Database database(temporary.file());
    std::string views;
    for (Statement view = database.prepare("SELECT name FROM sqlite_master WHERE type = 'view'"); view.step();) {
      views += "DROP VIEW " + view.text(0) + ";";
    }
    database.execute(views);
    database.execute(
        "DROP TRIGGER measurements_stand; DROP TRIGGER baselines_timed; DROP TABLE standings;"
        " DROP TABLE baseline_timings; DROP INDEX attempts_by_problem; DROP INDEX attempts_by_verdict;"
        " DROP INDEX solutions_by_name; DROP INDEX solutions_by_parent;"
        " DROP TABLE proposed; DROP TABLE replies; DROP TABLE requests; DROP TABLE texts; DROP TABLE selftests; DROP "
        "TABLE calibrations; DROP TABLE baselines; ALTER TABLE timings DROP COLUMN bound_us;"
        " ALTER TABLE campaigns DROP COLUMN steps; ALTER TABLE measurements DROP COLUMN counters; ALTER TABLE attempts "
        "DROP COLUMN step; ALTER TABLE events DROP "
        "COLUMN"
        " step; ALTER TABLE compilations DROP COLUMN registers; ALTER TABLE compilations DROP COLUMN shared_bytes;"
        " ALTER TABLE compilations DROP COLUMN spill_bytes;"
        " ALTER TABLE timings DROP COLUMN clocks; PRAGMA user_version = 1");
  }
  Archive archive(temporary.file());
  EXPECT_EQ(verifier::to_json(archive.attempt(id).measurement.value()),
            verifier::to_json(*correct_judgement(2).measurement));
  archive.add_calibration("cuda GPU", calibration_of("GPU", 1000));
  EXPECT_TRUE(archive.newest_calibration("cuda GPU"));
  EXPECT_TRUE(archive.newest_selftests().empty());
}

TEST(Schema, ANewerArchiveIsRefusedAndKept) {
  const TemporaryArchive temporary;
  { const Archive archive(temporary.file()); }
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

TEST(Schema, WhatIsNoDatabaseIsRefusedAndKept) {
  const TemporaryArchive temporary;
  const std::string text(5000, 'x');
  std::ofstream(temporary.file()) << text;
  EXPECT_NE(refusal(temporary.file()).find("cannot be used as an archive"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(temporary.file()), text.size());
  EXPECT_FALSE(refusal(temporary.file().parent_path()).empty());  // a folder
  EXPECT_FALSE(refusal(temporary.file() / "below_a_file.db").empty());
}

TEST(Schema, WhatWasJudgedCannotBeChanged) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  s.archive.add_attempt(s.attempt_at(s.naive, verifier::Effort::full, correct_judgement(2)));
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
}  // namespace results
