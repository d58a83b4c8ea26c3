#include "agent/cli/leaderboard_text.h"
#include "results/view/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agent::cli {
namespace {
using testing::HasSubstr;
using testing::Not;

results::archive::LeaderboardRow row_of(const std::string& device, const std::string& solution, double speed_up,
                                        double time_us) {
  results::archive::LeaderboardRow row;
  row.rank = 1;
  row.attempt = 7;
  row.problem = "sum_f32";
  row.device = device;
  row.solution = solution;
  row.origin = "seed";
  row.confirmed = true;
  row.speed_up = {speed_up, speed_up, speed_up};
  row.workloads.push_back({"bench", {time_us, time_us, time_us}, time_us * speed_up, row.speed_up, {}});
  return row;
}

TEST(LeaderboardText, TheLeaderboardHasAColumnForTheBound) {
  results::archive::LeaderboardRow with = row_of("cuda:0", "tiled", 2, 100);
  with.workloads[0].bound_us = 84.6;
  const results::archive::LeaderboardRow without = row_of("cpu", "plain", 2, 100);
  EXPECT_THAT(best_text({with, without}), HasSubstr("TIME  BOUND  DEVICE"));
  EXPECT_THAT(best_text({with, without}), HasSubstr("100.0 us   85 %  cuda:0"));
  EXPECT_THAT(best_text({with, without}), HasSubstr("100.0 us         cpu"));
  EXPECT_THAT(leaderboard_text({with}), HasSubstr("BOUND"));
  EXPECT_THAT(leaderboard_text({without}), Not(HasSubstr("BOUND")));
  EXPECT_EQ(results::view::json_of(with)["bound_us"], 84.6);
}

TEST(LeaderboardText, LibrariesStandAmongTheSolutionsButAreNone) {
  const results::archive::LeaderboardRow best = row_of("cuda GPU", "tiled", 2, 100);
  results::archive::LeaderboardRow second = row_of("cuda GPU", "plain", 1.1, 180);
  second.rank = 2;
  results::archive::LeaderboardRow library = row_of("cuda GPU", "PyTorch 2.11 eager", 3, 67);
  library.library = true;
  results::archive::LeaderboardRow failed = library;
  failed.solution = "PyTorch 2.11 compile";
  failed.workloads.clear();
  failed.verdict = verifier::verdicts::NotWritten{{}, "y", 0, 1, 1};
  const std::string text = best_text({library, best, second, failed});
  EXPECT_THAT(text, HasSubstr("library   3.00x [3.00, 3.00]   67.0 us  cuda GPU  PyTorch 2.11 eager"));
  EXPECT_THAT(text, testing::ContainsRegex("library +not_written +cuda GPU +PyTorch 2.11 compile"));
  EXPECT_THAT(text, Not(HasSubstr("plain")));  // not the best solution
  EXPECT_EQ(results::view::json_of(best)["kind"], "solution");
  EXPECT_EQ(results::view::json_of(library)["kind"], "library");
  EXPECT_TRUE(results::view::json_of(library)["rank"].is_null() &&
              results::view::json_of(library)["attempt"].is_null());
  EXPECT_EQ(results::view::json_of(library)["time_us"], 67);
  EXPECT_EQ(results::view::json_of(failed)["verdict"], "not_written");
  EXPECT_TRUE(results::view::json_of(failed)["time_us"].is_null() &&
              results::view::json_of(failed)["speed_up"].is_null());
}

TEST(LeaderboardText, WhereLinesWouldBeTooWideNamesStandBelowTheFigures) {
  results::archive::LeaderboardRow best = row_of("cuda GPU", "a_solution_with_a_name", 2, 100);
  best.binding = {{"BLOCK_ROWS", 128}, {"BLOCK_COLUMNS", 256}, {"STAGES", 4}};
  best.workloads[0].bound_us = 50;
  best.descent.model = "provider:model";
  best.descent.lineage = {3, 12000, 0.5, true};
  std::vector<results::archive::LeaderboardRow> rows;
  for (const std::string name : {"cuBLAS 13.0", "PyTorch 2.11 eager", "PyTorch 2.11 compile"}) {
    best.over_libraries.push_back({name, {2, 1.9, 2.1}, 1});
    rows.push_back(row_of("cuda GPU", name, 1, 200));
    rows.back().library = true;
  }
  rows.insert(rows.begin(), best);
  const std::string text = leaderboard_text(rows);
  EXPECT_THAT(
      text, HasSubstr("\n        a_solution_with_a_name BLOCK_COLUMNS=256 BLOCK_ROWS=128 STAGES=4 by provider:model"));
  EXPECT_THAT(text, HasSubstr("\n        C: PyTorch 2.11 compile\n"));
  EXPECT_THAT(text, Not(testing::ContainsRegex("[^\n]{125}")));  // bytes; "±" has two
  const std::string alone = leaderboard_text({best});
  EXPECT_THAT(alone, HasSubstr("  A: cuBLAS 13.0, B: PyTorch 2.11 eager, C: PyTorch 2.11 compile\n"));
  EXPECT_TRUE(results::view::json_of(best)["sentence"].is_null());  // the leaderboard does not read its verdict
  EXPECT_TRUE(results::view::json_of(rows[1])["sentence"].is_string());
}

TEST(ScoresText, NamesTheBaselinesTheirProblemsAndTheCleanSubset) {
  results::view::SuiteScores scores{"core", "cuda GPU", {}, {}, {{"bad", "its output\nis constant"}}, {"changed"}};
  scores.all = {12, 5, 3, 1.5, 2, {{"naive", 12, 5, 1.75, {5, 3, 2, 1}}, {"PyTorch eager", 4, 2, 0.8, {2, 1, 0, 0}}}};
  scores.clean = results::view::Scores{11, 4, 3, 1.5, 2, {{"PyTorch compile", 0, 0, {}, {}}}};
  const std::string text = scores_text({scores});
  const std::string expected =
      "suite core on cuda GPU: verified kernels for 5 of 12 problems, confirmed wins over naive for 3\n"
      "  BASELINE       PROBLEMS WITH IT  fast_0  fast_1  fast_1.5  fast_2  GEOMETRIC MEAN\n"
      "  naive                        12    42 %    25 %      17 %     8 %      1.75x of 5\n"
      "  PyTorch eager                 4    17 %     8 %       0 %     0 %      0.80x of 2\n"
      "  clean subset: verified kernels for 4 of 11 problems, confirmed wins over naive for 3\n";
  EXPECT_THAT(text, testing::StartsWith(expected));
  EXPECT_THAT(text, testing::ContainsRegex("  PyTorch compile +0 +- +- +- +- +-\n"));
  EXPECT_THAT(text, HasSubstr("  unclean: bad: its output is constant\n"));
  EXPECT_THAT(text, HasSubstr(older_files_text("changed")));
  EXPECT_THAT(text, HasSubstr("fast_p: the share of all problems"));
  EXPECT_THAT(text, HasSubstr("KernelBench (Ouyang et al. 2025"));
  EXPECT_THAT(text, Not(testing::ContainsRegex("[^\n]{121}")));
  scores.clean.reset();
  scores.unclean.clear();
  EXPECT_THAT(scores_text({scores}), HasSubstr("no problem of this suite is marked"));
  scores.suite = "";
  EXPECT_THAT(scores_text({scores}), Not(HasSubstr("clean subset:")));
}

}  // namespace
}  // namespace agent::cli
