#include "results/transfer/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text.h"
#include "results/archive/leaderboard.h"
#include "results/archive/tables.h"
#include "results/transfer/transfer_fixture.h"

namespace results::transfer::test {
namespace {
using namespace archive;
using namespace archive::test;
using testing::HasSubstr;
using testing::IsEmpty;

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "";
}

// Every table and column is in the description, so a new one cannot be forgotten.
TEST(Transfer, NothingOfAnArchiveIsForgotten) {
  const std::set<std::string> kept_by_triggers{"standings", "baseline_timings"};
  const TemporaryArchive temporary;
  { const archive::Recorder archive(temporary.file()); }
  Database database(temporary.file());
  Statement columns = database.prepare(
      "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
      " AND m.name NOT LIKE 'sqlite%' AND c.name <> 'id'");
  int seen = 0;
  while (columns.step()) {
    if (kept_by_triggers.count(columns.text(0)) > 0) continue;
    const Table& table = table_named(columns.text(0));
    const std::string name = columns.text(1);
    const bool refers_to_owner =
        (table.name == "measurements" && name == "attempt") || (table.name == "timings" && name == "measurement");
    const bool known = std::any_of(table.columns.begin(), table.columns.end(),
                                   [&](const Column& column) { return column.name == name; });
    EXPECT_TRUE(known || refers_to_owner) << table.name << "." << name;
    ++seen;
  }
  EXPECT_GT(seen, 80);
}

TEST(Transfer, ExportAndImportKeepEverything) {
  const TemporaryArchive from, to;
  { const Rich rich(from.file()); }
  const std::string lines = exported(from.file());
  for (const Table& table : tables()) EXPECT_THAT(lines, HasSubstr("\"table\":\"" + table.name + "\"")) << table.name;
  import_text(lines, to.file());
  EXPECT_TRUE(exported(to.file()) == lines);
  EXPECT_EQ(findings_in(from.file()), "");
  EXPECT_EQ(findings_in(to.file()), "");
  const archive::Recorder a(from.file()), b(to.file());
  EXPECT_EQ(a.steps_of_campaign(1).size(), b.steps_of_campaign(1).size());
  EXPECT_EQ(to_json(a.attempt(2).measurement.value()), to_json(b.attempt(2).measurement.value()));
  EXPECT_EQ(b.attempt(2).compile_log, "warning: \xc3(");
  EXPECT_EQ(b.attempt(3).reused_from, 1);
  EXPECT_EQ(b.requests_of_campaign(1)[0].request.prompt, a.requests_of_campaign(1)[0].request.prompt);
  EXPECT_EQ(leaderboard(b, {}).size(), leaderboard(a, {}).size());
}

// results/transfer/test_data/records.jsonl was exported with schema 7; newer versions must read it.
TEST(Transfer, AnEarlierExportIsImported) {
  const TemporaryArchive to;
  const std::string lines = core::read_file(KW_SOURCE_FOLDER "/results/transfer/test_data/records.jsonl");
  import_text(lines, to.file());
  EXPECT_EQ(findings_in(to.file()), "");
  const std::string now = exported(to.file());
  for (const std::string& line : core::split(lines, '\n')) {
    EXPECT_TRUE(line.find("\"format\"") != std::string::npos || now.find(line) != std::string::npos) << line;
  }
}

TEST(Transfer, KnownRecordsAreNotAddedAgain) {
  const TemporaryArchive from, to;
  { const Rich rich(from.file()); }
  const std::string lines = exported(from.file());
  const Merged first = import_text(lines, to.file()), second = import_text(lines, to.file());
  EXPECT_EQ(added_in(second), 0);
  EXPECT_EQ(second.tables.at("attempts").known, first.tables.at("attempts").added);
  EXPECT_EQ(first.tables.at("attempts").added, 5);
  EXPECT_EQ(first.tables.at("events").added, 4);
  EXPECT_EQ(added_in(merge_files({from.file()}, to.file())), 0);
  EXPECT_EQ(added_in(merge_files({to.file()}, from.file())), 0);
  EXPECT_TRUE(exported(to.file()) == lines);
}

TEST(Transfer, ArchivesOfSeveralMachinesBecomeOne) {
  const TemporaryArchive one, two, all;
  { const Rich rich(one.file()); }
  {
    Rich rich(two.file());
    add_attempt(rich, 5);
  }
  const Merged merged = merge_files({one.file(), two.file()}, all.file());
  EXPECT_THAT(merged.separated, IsEmpty());
  const archive::Recorder archive(all.file());
  EXPECT_EQ(archive.campaigns().size(), 2u);
  EXPECT_EQ(archive.find_solutions("naive").size(), 1u);
  EXPECT_EQ(findings_in(all.file()), "");
  EXPECT_EQ(added_in(merge_files({two.file(), one.file()}, all.file())), 0);
  EXPECT_EQ(leaderboard(archive, {})[0].speed_up.value, correct_judgement(1.1 + 5.0 / 7).measurement->speed_up.value);
}

TEST(Transfer, ACopiedCampaignThatWentOnIsContinued) {
  const TemporaryArchive here, there;
  { const Rich rich(here.file()); }
  std::filesystem::remove(there.file());
  { archive::Recorder(here.file()).copy_to(there.file()); }
  archive::Recorder archive(there.file());
  archive.add_event(1, "went on", {});
  archive.set_campaign_status(1, "interrupted");
  const std::string longer = exported(archive);
  const Merged merged = merge_files({there.file()}, here.file());
  EXPECT_THAT(merged.continued, testing::ElementsAre(archive.campaigns()[0].name));
  EXPECT_EQ(added_in(merged), 1);
  EXPECT_EQ(archive::Recorder(here.file()).campaigns()[0].status, "interrupted");
  EXPECT_EQ(findings_in(here.file()), "");
  // Merging back adds nothing.
  EXPECT_EQ(added_in(merge_files({here.file()}, there.file())), 0);
}

TEST(Transfer, ACampaignThatContinuedInTwoArchivesBecomesTwo) {
  const TemporaryArchive here, there;
  { const Rich rich(here.file()); }
  { archive::Recorder(here.file()).copy_to(there.file()); }
  { archive::Recorder(here.file()).add_event(1, "went on here", {}); }
  { archive::Recorder(there.file()).add_event(1, "went on there", {}); }
  const std::string name = archive::Recorder(here.file()).campaigns()[0].name;
  const Merged merged = merge_files({there.file()}, here.file());
  ASSERT_EQ(merged.separated.size(), 1u);
  const std::string separate = merged.separated.at(name);
  EXPECT_EQ(separate.substr(0, name.size() + 1), name + "-");
  EXPECT_EQ(findings_in(here.file()), "");
  {
    const archive::Recorder archive(here.file());
    EXPECT_EQ(archive.campaigns().size(), 2u);
    EXPECT_EQ(archive.steps_of_campaign(archive.find_campaign(separate).id).size(),
              archive.steps_of_campaign(archive.find_campaign(name).id).size());
  }
  EXPECT_EQ(added_in(merge_files({there.file()}, here.file())), 0);
  // It continues there and stays the same campaign here.
  { archive::Recorder(there.file()).add_event(1, "and on", {}); }
  const Merged again = merge_files({there.file()}, here.file());
  EXPECT_EQ(added_in(again), 1);
  EXPECT_EQ(again.separated.at(name), separate);
}

TEST(Transfer, OneCampaignIsExportedWithItsDependencies) {
  const TemporaryArchive from, to;
  Rich rich(from.file());
  const int64_t other = rich.archive.start_campaign({{"problems", {"sum_f32"}}}, rich.environment).id;
  rich.archive.add_event(other, "elsewhere", {});
  import_text(exported(rich.archive, rich.campaign), to.file());
  const archive::Recorder archive(to.file());
  ASSERT_EQ(archive.campaigns().size(), 1u);
  EXPECT_EQ(archive.attempts_of_campaign(1).size(), 4u);
  EXPECT_EQ(archive.count_attempts(), 4);
  EXPECT_EQ(archive.requests_of_campaign(1).size(), 2u);
  EXPECT_EQ(findings_in(to.file()), "");
}

TEST(Transfer, InconsistentRecordsAreRefusedWithTheirLine) {
  const TemporaryArchive from, to;
  { const Rich rich(from.file()); }
  const std::string lines = exported(from.file());
  const auto with = [&](const std::string& was, const std::string& is) {
    std::string changed = lines;
    const size_t at = changed.find(was);
    EXPECT_NE(at, std::string::npos) << was;
    return changed.replace(at, was.size(), is);
  };
  const auto why = [&](const std::string& text) { return refusal([&] { import_text(text, to.file()); }); };
  EXPECT_THAT(why(with(R"("host":"test")", R"("host":"other")")), HasSubstr("lines.jsonl:2#/hash: does not match"));
  EXPECT_THAT(why(with("// sum_f32 naive", "// sum_f32 naive!")), HasSubstr("does not match the hashed content"));
  EXPECT_THAT(why(with(R"("verdict":"correct")", R"("verdict":"wrong_result")")), HasSubstr("is not the name of"));
  EXPECT_THAT(why(with(R"("outcome":"win")", R"("outcome":"tie")")),
              HasSubstr("which does not follow from its speed-up"));
  EXPECT_THAT(why(with(R"("incumbent_us":100.0)", R"("incumbent_us":101.0)")), HasSubstr("not the medians"));
  EXPECT_THAT(why(with(R"("samples":")", R"("samples":"====)")), HasSubstr("is not base64"));
  EXPECT_THAT(why(with(R"("samples":")", R"("samples":"AAAA)")), HasSubstr("samples"));
  EXPECT_THAT(why(with(R"("step":8,)", R"("step":9,)")), HasSubstr("steps"));
  EXPECT_THAT(why(with(R"("effort":"full")", R"("effort":"full","surprise":1)")), HasSubstr("is unknown here"));
  const size_t reply = lines.find("{\"arrived\":\"");  // a second reply to the same request
  const std::string another = lines.substr(reply, lines.find('\n', reply) - reply + 1);
  std::string twice = lines;
  twice.insert(reply, std::string(another).replace(another.find("\"tries\":1"), 9, "\"tries\":2"));
  EXPECT_THAT(why(twice), HasSubstr("contradicts an earlier record"));
  EXPECT_THAT(why(with(R"("seed":")", R"("seed":"x)")), HasSubstr("is not a seed"));
  EXPECT_THAT(why(with(R"("version":1)", R"("version":2)")), HasSubstr("this program knows 1"));
  EXPECT_THAT(why(lines.substr(0, lines.rfind('\n', lines.size() - 2) + 1)),
              HasSubstr("that its first line announces"));
  EXPECT_THAT(why(lines.substr(0, lines.size() - 20)), HasSubstr("is not valid JSON"));
  EXPECT_THAT(why(lines + lines.substr(lines.rfind('\n', lines.size() - 2) + 1)), HasSubstr("an earlier line"));
  EXPECT_THAT(why(""), HasSubstr("is empty"));
  EXPECT_THAT(why("{}\n"), HasSubstr("is not a file that kernelwright archive export wrote"));
  EXPECT_THAT(why("\x01\xff"), HasSubstr("its first line is not a JSON object"));
  EXPECT_THAT(why("SQLite format 3\n"), HasSubstr("kernelwright archive merge"));
  EXPECT_FALSE(std::filesystem::exists(to.file()));  // everything is read before the target is opened
}

TEST(Transfer, VerifyNamesEveryRowThatDoesNotFit) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"UPDATE solutions SET source = source || ' ' WHERE id = 1", "solutions 1: /hash does not match"},
      {"UPDATE timings SET candidate_us = candidate_us * 1.01 WHERE id = 2", "attempts 2: /measurement the times of"},
      {"UPDATE timings SET samples = substr(samples, 2) WHERE id = 1", "attempts 1: /measurement/timings/0"},
      {"UPDATE measurements SET speed_up = 9, high = 10 WHERE id = 2",
       "attempts 2: /measurement the speed-up does not match"},
      {"UPDATE attempts SET verdict_json = '{}' WHERE id = 4", "attempts 4: "},
      {"UPDATE attempts SET verdict_json = '{' WHERE id = 4", "attempts 4: "},
      {"UPDATE attempts SET step = 1 WHERE id = 2", "campaigns 1: its steps"},
      {"UPDATE attempts SET made = 'now' WHERE id = 2", "attempts 2: /made is not a time"},
      {"DELETE FROM candidates WHERE id = 2", "attempts 1: refers to a row of candidates"},
      {"DELETE FROM texts WHERE id = 1", "requests 1: its row 1 in texts is lost"},
      {"DELETE FROM attempts WHERE id = 5", "compilations 5: belongs to no attempt"},
      {"UPDATE attempts SET reused_from = 4 WHERE id = 3", "attempts 3: reused_from comes later"},
      {"UPDATE calibrations SET facts = '{}'", "calibrations 1: "},
      {"UPDATE baselines SET verdict = 'wrong_result'", "baselines 1: /verdict is not the name"},
      {"UPDATE selftests SET false_accepts = 100", "selftests 1: /dishonest is too small"},
      {"UPDATE texts SET text = 'x' WHERE id = 2", "texts 2: /hash does not match"},
      {"UPDATE replies SET complete = 7", "replies 1: complete is not a flag"},
      {"UPDATE campaigns SET spent_seconds = 9e999", "campaigns 1: spent_seconds is not finite"},
      {"DROP VIEW v_problems; CREATE VIEW v_problems AS SELECT 1 AS problem_id", "view v_problems differs"},
      {"CREATE TRIGGER mine AFTER INSERT ON texts BEGIN SELECT 1; END", "trigger mine does not come from this program"},
      {"ALTER TABLE texts RENAME TO t; CREATE VIEW texts AS SELECT rowid, * FROM t", "table texts is missing"},
      {"UPDATE standings SET low = 77", "standings"}};
  for (const auto& [sql, finding] : cases) {
    const TemporaryArchive temporary;
    { const Rich rich(temporary.file()); }
    tamper(temporary.file(), sql);
    EXPECT_THAT(findings_in(temporary.file()), HasSubstr(finding)) << sql;
    const TemporaryArchive to;
    if (finding != "standings") {
      EXPECT_NE(refusal([&] { merge_files({temporary.file()}, to.file()); }), "") << sql;
    }
  }
}

TEST(Transfer, PruningKeepsConfirmedResultsAndReplayData) {
  const TemporaryArchive temporary;
  Rich rich(temporary.file());
  const std::string before = exported(rich.archive);
  const auto parts = prune(rich.archive, {}, false);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].rows, 2);
  EXPECT_EQ(parts[1].rows, 4);
  EXPECT_TRUE(exported(rich.archive) == before);
  prune(rich.archive, {}, true);
  EXPECT_EQ(findings_in(temporary.file()), "");
  EXPECT_TRUE(rich.archive.attempt(1).measurement->workloads[0].pairs.empty());
  EXPECT_EQ(rich.archive.attempt(1).measurement->speed_up.value,
            correct_judgement(1.1 + 1.0 / 7).measurement->speed_up.value);
  EXPECT_EQ(rich.archive.attempt(2).measurement->workloads[0].pairs.size(), 31u);
  EXPECT_FALSE(rich.archive.attempt(1).compile_log.empty());
  EXPECT_EQ(rich.archive.requests_of_campaign(1)[0].request.prompt_hash, std::string(64, 'a'));
  for (const PrunedPart& part : prune(rich.archive, {}, false)) EXPECT_EQ(part.rows, 0) << name_of(part.what);
  prune(rich.archive, {rich.campaign, true}, true);
  EXPECT_TRUE(rich.archive.attempt(1).compile_log.empty());
  EXPECT_FALSE(rich.archive.attempt(2).compile_log.empty());
  Database database(temporary.file());  // and rows are append-only again
  EXPECT_THROW(database.execute("UPDATE timings SET low = 1"), core::SystemError);
  EXPECT_THROW(database.execute("UPDATE compilations SET log = ''"), core::SystemError);
  EXPECT_THROW(database.execute("UPDATE requests SET number = 2"), core::SystemError);
  // Pruned records transfer unchanged.
  const TemporaryArchive to;
  import_text(exported(rich.archive), to.file());
  EXPECT_TRUE(exported(to.file()) == exported(rich.archive));
}

TEST(Transfer, PruningLeavesCampaignsAloneThatAreNotDone) {
  const TemporaryArchive temporary;
  Rich rich(temporary.file());
  rich.archive.set_campaign_status(rich.campaign, "running");
  EXPECT_EQ(prune(rich.archive, {}, false)[1].rows, 0);
  EXPECT_THAT(refusal([&] { prune(rich.archive, {rich.campaign, true}, true); }), HasSubstr("is running"));
  rich.archive.set_campaign_status(rich.campaign, "interrupted");
  EXPECT_THAT(refusal([&] { prune(rich.archive, {rich.campaign, false}, true); }), HasSubstr("is interrupted"));
  EXPECT_EQ(prune(rich.archive, {rich.campaign, true}, false).size(), 3u);
}

TEST(Transfer, ABackupIsTheSameAndReplacesNothing) {
  const TemporaryArchive temporary;
  Rich rich(temporary.file());
  const std::filesystem::path copy = temporary.file().parent_path() / "copy.db";
  back_up(rich.archive, copy);
  EXPECT_TRUE(exported(copy) == exported(rich.archive));
  EXPECT_THAT(refusal([&] { back_up(rich.archive, copy); }), HasSubstr("already exists"));
  for (const auto& entry : std::filesystem::directory_iterator(copy.parent_path())) {
    EXPECT_EQ(entry.path().string().find(".part"), std::string::npos);
  }
  const ArchiveInfo info = info_of(rich.archive, temporary.file());
  EXPECT_GT(info.file_bytes + info.log_bytes, 0);
  EXPECT_GE(info.tables.size(), tables().size());
}

}  // namespace
}  // namespace results::transfer::test
