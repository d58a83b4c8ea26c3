#include "results/archive/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>

#include "core/error.h"
#include "results/archive/archive_fixture.h"
#include "results/archive/database.h"

namespace results::archive::test {
namespace {
using testing::ElementsAre;
using verifier::verdicts::Effort;

TEST(Recorder, AnAttemptComesBackAsItWasWritten) {
  const TemporaryArchive temporary;
  int64_t id = 0;
  {
    Started s(temporary.file());
    const int64_t candidate = s.add_candidate("tiled", "seed", {{"BLOCK", 256}, {"VEC", 4}});
    NewAttempt added = s.attempt_at(candidate, Effort::full, correct_judgement(1.5));
    id = s.archive.add_attempt(added);
  }
  const Recorder archive(temporary.file());
  const RecordedAttempt a = archive.attempt(id);
  EXPECT_EQ(a.problem, "sum_f32");
  EXPECT_EQ(a.solution, "tiled");
  EXPECT_EQ(a.origin, "seed");
  EXPECT_EQ(a.binding, (sandbox::TunableBinding{{"BLOCK", 256}, {"VEC", 4}}));
  EXPECT_EQ(a.device, "cpu");
  EXPECT_EQ(a.effort, "full");
  EXPECT_TRUE(verifier::verdicts::is_correct(a.verdict));
  EXPECT_EQ(std::get<verifier::verdicts::Correct>(a.verdict).launches, 12);
  EXPECT_EQ(a.compile_ms, 85);
  EXPECT_EQ(a.compile_log, "one warning");
  EXPECT_EQ(a.seed, std::to_string(0xFEDCBA9876543210u));
  EXPECT_EQ(a.environment, (core::Json{{"host", "test"}}));
  EXPECT_EQ(a.stages["timing_ms"], 3);
  EXPECT_EQ(a.against, "naive");
  EXPECT_EQ(a.source, solution_named("tiled").source);
  EXPECT_FALSE(a.reused_from.has_value());
  ASSERT_TRUE(a.measurement.has_value());
  EXPECT_EQ(to_json(*a.measurement), to_json(*correct_judgement(1.5).measurement));
}

TEST(Recorder, ClocksCountersAndTheBoundAreKeptWhereTheyAreKnown) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  verifier::verdicts::Judgement judgement = correct_judgement(2, 3);
  verifier::verdicts::WorkloadTiming& timing = judgement.measurement->workloads[0];
  timing.bound_us = 12.5;
  timing.pairs[1].candidate_mhz = 1980;
  timing.pairs[1].incumbent_mhz = 1965.5f;
  timing.pairs[2].throttled = true;
  verifier::verdicts::Counters launch;
  launch.kernel = "row_sum";
  launch.dram = 0.875;
  launch.stalls["long_scoreboard"] = 12.5;
  judgement.measurement->counters = {launch, launch};
  const int64_t with = s.archive.add_attempt(s.attempt_at(s.naive, Effort::full, judgement));
  const int64_t without = s.archive.add_attempt(s.attempt_at(s.naive, Effort::full, correct_judgement(2)));
  EXPECT_EQ(to_json(s.archive.attempt(with).measurement.value()), to_json(*judgement.measurement));
  EXPECT_EQ(s.archive.attempt(with).measurement->counters.size(), 2u);
  EXPECT_TRUE(s.archive.attempt(without).measurement->counters.empty());
  EXPECT_EQ(s.archive.counters_of(without).size(), 2u);  // of the same candidate
  EXPECT_EQ(s.archive.attempt(without).measurement->workloads[0].bound_us, std::nullopt);
  EXPECT_EQ(s.archive.attempt(without).measurement->workloads[0].pairs[1].candidate_mhz, 0);
  Database database(temporary.file());
  Statement row = database.prepare("SELECT length(clocks) FROM timings ORDER BY id");
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.integer(0), 27);
  ASSERT_TRUE(row.step());
  EXPECT_TRUE(row.is_null(0));
}

TEST(Recorder, TheNewestCalibrationOfADeviceCounts) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  EXPECT_FALSE(s.archive.newest_calibration("cuda GPU A"));
  s.archive.add_calibration("cuda GPU A", calibration_of("GPU A", 4000));
  s.archive.add_calibration("cuda GPU A", calibration_of("GPU A", 4100));
  s.archive.add_calibration("cuda GPU B", calibration_of("GPU B", 900));
  ASSERT_TRUE(s.archive.newest_calibration("cuda GPU A"));
  EXPECT_EQ(to_json(*s.archive.newest_calibration("cuda GPU A")), to_json(calibration_of("GPU A", 4100)));
  EXPECT_EQ(s.archive.newest_calibration("cuda GPU B")->dram_read_gb_s, 900);
  EXPECT_FALSE(s.archive.newest_calibration("cpu"));
}

TEST(Recorder, ARefusalHasNoMeasurement) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  verifier::verdicts::Judgement refused;
  refused.verdict = verifier::verdicts::CompileFailed{sandbox::Rejection::compile_error, "expected ';' \xFF", 7};
  const int64_t id = s.archive.add_attempt(s.attempt_at(s.add_candidate("bad", "user"), Effort::screen, refused));
  const RecordedAttempt a = s.archive.attempt(id);
  EXPECT_EQ(name_of(a.verdict), "compile_error");
  EXPECT_EQ(std::get<verifier::verdicts::CompileFailed>(a.verdict).line, 7);
  EXPECT_FALSE(a.measurement.has_value());
}

TEST(Recorder, EqualRowsAreKeptOnce) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  EXPECT_EQ(s.add_candidate("a", "seed", {{"X", 1}}), s.add_candidate("a", "seed", {{"X", 1}}));
  EXPECT_NE(s.add_candidate("a", "seed", {{"X", 1}}), s.add_candidate("a", "seed", {{"X", 2}}));
  EXPECT_NE(s.add_candidate("a", "seed"), s.add_candidate("b", "seed"));
  EXPECT_EQ(s.archive.add_environment({{"host", "test"}}), s.environment);
  EXPECT_NE(s.archive.add_environment({{"host", "other"}}), s.environment);
}

TEST(Recorder, AResultIsFoundAgainByArtefactEffortAndIncumbent) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const int64_t candidate = s.add_candidate("a", "seed"), other = s.add_candidate("b", "seed");
  const NewAttempt added = s.attempt_at(candidate, Effort::screen, correct_judgement(2));
  const int64_t id = s.archive.add_attempt(added);
  EXPECT_EQ(s.archive.find_artefact(s.campaign, added.artefact, Effort::screen, s.naive), id);
  EXPECT_EQ(s.archive.find_artefact(s.campaign, added.artefact, Effort::full, s.naive), std::nullopt);
  EXPECT_EQ(s.archive.find_artefact(s.campaign, added.artefact, Effort::screen, other), std::nullopt);
  EXPECT_EQ(s.archive.find_artefact(s.campaign, "another", Effort::screen, s.naive), std::nullopt);
  EXPECT_EQ(s.archive.find_attempt(s.campaign, candidate, Effort::screen, s.naive), id);
  EXPECT_EQ(s.archive.find_attempt(s.campaign, candidate, Effort::screen, std::nullopt), id);
  EXPECT_EQ(s.archive.find_attempt(s.campaign, other, Effort::screen, std::nullopt), std::nullopt);
}

TEST(Recorder, AReusedResultNamesItsSource) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const int64_t first =
      s.archive.add_attempt(s.attempt_at(s.add_candidate("a", "seed"), Effort::full, correct_judgement(2)));
  NewAttempt reuse = s.attempt_at(s.add_candidate("b", "seed"), Effort::full, correct_judgement(2));
  reuse.reused_from = first;
  EXPECT_EQ(s.archive.attempt(s.archive.add_attempt(reuse)).reused_from, first);
}

TEST(Recorder, ACampaignKeepsItsSpendingAndEvents) {
  const TemporaryArchive temporary;
  std::string name;
  {
    Started s(temporary.file());
    name = s.archive.find_campaign("").name;
    NewAttempt attempt = s.attempt_at(s.naive, Effort::control, correct_judgement(1));
    for (const double seconds : {1.5, 2.25}) {
      attempt.seconds = seconds;
      s.archive.add_attempt(attempt);
    }
    s.archive.add_event(s.campaign, "stopped", {{"why", "no untried neighbour is left"}});
    s.archive.set_campaign_status(s.campaign, "interrupted");
  }
  const Recorder archive(temporary.file());
  const CampaignRecord campaign = archive.find_campaign(name.substr(0, 4));
  EXPECT_EQ(campaign.name, name);
  EXPECT_EQ(campaign.status, "interrupted");
  EXPECT_EQ(campaign.spent_seconds, 3.75);
  EXPECT_EQ(campaign.attempts, 2);
  EXPECT_FALSE(campaign.ended.empty());
  EXPECT_EQ(archive.attempts_of_campaign(campaign.id).size(), 2u);
  const std::vector<EventRecord> events = archive.events_of_campaign(campaign.id);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, "stopped");
  EXPECT_EQ(events[0].details["why"], "no untried neighbour is left");
}

TEST(Recorder, CampaignsAreFoundByNameAndUnambiguousPrefix) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  std::string newest;
  for (int i = 0; i < 40; ++i) newest = s.archive.start_campaign({}, s.environment).name;
  EXPECT_EQ(s.archive.find_campaign("").name, newest);
  EXPECT_EQ(s.archive.campaigns().size(), 41u);
  EXPECT_EQ(s.archive.campaigns().front().name, newest);
  for (const CampaignRecord& campaign : s.archive.campaigns()) {
    EXPECT_EQ(s.archive.find_campaign(campaign.name).id, campaign.id);
  }
  int ambiguous = 0;  // 41 names begin with one of 31 letters: some share one
  for (const CampaignRecord& campaign : s.archive.campaigns()) {
    try {
      s.archive.find_campaign(campaign.name.substr(0, 1));
    } catch (const core::InputError&) {
      ++ambiguous;
    }
  }
  EXPECT_GE(ambiguous, 2);
  EXPECT_THROW(s.archive.find_campaign("nosuchcampaign"), core::InputError);
}

TEST(Recorder, SolutionsAreFoundByNameAndHash) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const sandbox::Solution first = solution_named("first"), second = solution_named("second");
  const int64_t parent = s.archive.add_solution({&first, "first", "seed", {}});
  const int64_t child = s.archive.add_solution({&second, "second", "model", parent});
  const int64_t attempt = s.archive.add_attempt(
      s.attempt_at(s.archive.add_candidate(child, {{"X", 1}}), Effort::screen, correct_judgement(1)));
  for (const std::string& key : {std::string("second"), second.hash(), second.hash().substr(0, 6)}) {
    const std::vector<SolutionRecord> found = s.archive.find_solutions(key);
    ASSERT_EQ(found.size(), 1u) << key;
    EXPECT_EQ(found[0].id, child);
    EXPECT_EQ(found[0].parent, parent);
    EXPECT_EQ(found[0].origin, "model");
    EXPECT_EQ(found[0].source, second.source);
    EXPECT_EQ(found[0].attempts, 1);
  }
  EXPECT_THAT(s.archive.attempts_of_solution(child), ElementsAre(attempt));
  EXPECT_TRUE(s.archive.find_solutions("third").empty());
  EXPECT_TRUE(s.archive.find_solutions("").empty());
}

TEST(Recorder, ReferencesMustExist) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const NewAttempt good = s.attempt_at(s.naive, Effort::screen, correct_judgement(1));
  NewAttempt bad = good;
  bad.candidate = 999;
  EXPECT_THROW(s.archive.add_attempt(bad), core::SystemError);
  bad = good;
  bad.against = 999;  // fails after the attempt's row was written: all of it is rolled back
  EXPECT_THROW(s.archive.add_attempt(bad), core::SystemError);
  EXPECT_EQ(s.archive.count_attempts(), 0);
  s.archive.add_attempt(good);
  EXPECT_EQ(s.archive.count_attempts(), 1);
}

TEST(Recorder, AConfirmationCountsInPlaceOfTheJudgementBefore) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const int64_t tied = s.add_candidate("tied", "a model"), refused = s.add_candidate("refused", "a model");
  const int64_t judged =
      s.archive.add_attempt(s.attempt_at(s.add_candidate("judged", "a model"), Effort::full, correct_judgement(1.1)));
  s.archive.add_attempt(s.attempt_at(tied, Effort::full, correct_judgement(2)));
  const int64_t tie = s.archive.add_attempt(s.attempt_at(tied, Effort::confirm, correct_judgement(1)));
  s.archive.add_attempt(s.attempt_at(refused, Effort::full, correct_judgement(3)));
  verifier::verdicts::Judgement wrong;
  wrong.verdict = verifier::verdicts::WrongNonFinite{};
  const int64_t refusal = s.archive.add_attempt(s.attempt_at(refused, Effort::confirm, wrong));
  EXPECT_THAT(s.archive.judgements("sum_f32", "cpu", Reader::Found::correct), ElementsAre(judged, tie));
  EXPECT_THAT(s.archive.judgements("sum_f32", "cpu", Reader::Found::refused), ElementsAre(refusal));
}

TEST(Recorder, AMissingAttemptIsTheUsersError) {
  const TemporaryArchive temporary;
  const Recorder archive(temporary.file());
  EXPECT_THROW(archive.attempt(1), core::InputError);
}

TEST(Recorder, TwoProcessesMayUseOneFile) {
  const TemporaryArchive temporary;
  Started a(temporary.file()), b(temporary.file());
  EXPECT_EQ(a.naive, b.naive);
  for (int i = 0; i < 20; ++i) {
    a.archive.add_attempt(a.attempt_at(a.naive, Effort::screen, correct_judgement(1)));
    b.archive.add_attempt(b.attempt_at(b.naive, Effort::screen, correct_judgement(1)));
  }
  EXPECT_EQ(a.archive.count_attempts(), 40);
  EXPECT_EQ(b.archive.attempts_of_campaign(b.campaign).size(), 20u);
}

// The target is 0.3 ms of processor time per attempt, plus slack for load and sanitizers.
TEST(Recorder, AnAttemptCostsLittle) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const NewAttempt attempt = s.attempt_at(s.naive, Effort::full, correct_judgement(1.5, 61));
  constexpr int kCount = 500;
  const std::clock_t begin = std::clock();
  for (int i = 0; i < kCount; ++i) s.archive.add_attempt(attempt);
  const double each_ms = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / kCount;
  RecordProperty("each_us", static_cast<int>(each_ms * 1000));
#if defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(each_ms, 6);
#else
  EXPECT_LT(each_ms, 1.5);
#endif
}

}  // namespace
}  // namespace results::archive::test
