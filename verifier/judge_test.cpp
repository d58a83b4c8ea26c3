// The judge with its real workers: every file of verifier/adversarial/ gets the verdict that its header names, and
// leaves the judge as it was.
#include "verifier/judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "core/paths.h"
#include "core/text.h"

namespace verifier {
namespace {

// One judge and one compile pool for all tests of this file: starting them costs more than judging.
class JudgeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const core::Paths paths = core::installed_paths();
    const sandbox::WorkerCommand worker{paths.worker("cpu"), {"--device-headers", paths.device_headers().string()}, {}};
    pool_ = std::make_unique<sandbox::CompilePool>(worker, 2);
    JudgeSettings settings;
    settings.check.launch_deadline_s = 2;
    settings.timing.most_s = 0.3;
    judge_ = std::make_unique<Judge>(JudgedDevice{worker, false, {}}, settings);
    judge_->use_problem(benchsuite::load_problem(paths.problems() / "row_sum_f32"), *pool_);
  }
  static void TearDownTestSuite() {
    judge_.reset();
    pool_.reset();
  }

  static Judgement judge(const sandbox::Solution& solution, Effort effort) {
    Builds builds(solution, sandbox::default_binding(solution));
    if (const sandbox::Rejected* rejected = builds.wait(*pool_, effort)) {
      return {CompileFailed{rejected->reason, rejected->message, rejected->line}, {}, {}, 0};
    }
    return judge_->judge(builds, judge_->naive(), effort);
  }

  static std::unique_ptr<sandbox::CompilePool> pool_;
  static std::unique_ptr<Judge> judge_;
};
std::unique_ptr<sandbox::CompilePool> JudgeTest::pool_;
std::unique_ptr<Judge> JudgeTest::judge_;

// Those for this device; judge_gpu_test.cpp judges them all on a GPU.
std::vector<std::filesystem::path> adversarial_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(KW_SOURCE_FOLDER "/verifier/adversarial")) {
    if (core::read_file(entry.path()).find("\"backends\": [\"cuda\"]") == std::string::npos) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// "// Must be refused: race." -> "race"; "// Must be accepted." -> "correct"
std::string verdict_wanted(const std::string& source) {
  const std::string mark = "// Must be refused: ";
  const size_t at = source.find(mark);
  if (at == std::string::npos) return source.find("// Must be accepted.") == std::string::npos ? "" : "correct";
  const size_t begin = at + mark.size();
  return source.substr(begin, source.find('.', begin) - begin);
}

class Adversarial : public JudgeTest, public testing::WithParamInterface<std::filesystem::path> {};

TEST_P(Adversarial, GetsTheVerdictItsHeaderNames) {
  const sandbox::Solution solution = sandbox::load_solution(GetParam());
  const Judgement judgement = judge(solution, Effort::full);
  EXPECT_EQ(name_of(judgement.verdict), verdict_wanted(solution.source)) << sentence_for_people(judgement.verdict);
  EXPECT_EQ(judgement.measurement.has_value(), is_correct(judgement.verdict));
  // Whatever it did, the next candidate is judged as ever.
  const sandbox::Solution naive = sandbox::load_solution(core::installed_paths().problems() / "row_sum_f32/naive.cu");
  const Judgement after = judge(naive, Effort::screen);
  EXPECT_TRUE(is_correct(after.verdict)) << sentence_for_people(after.verdict);
}

INSTANTIATE_TEST_SUITE_P(Files, Adversarial, testing::ValuesIn(adversarial_files()),
                         [](const auto& file) { return file.param.stem().string(); });

TEST_F(JudgeTest, ThereAreFilesOfManyKinds) { EXPECT_GE(adversarial_files().size(), 20u); }

TEST_F(JudgeTest, MeasuresWithEverySampleKept) {
  const sandbox::Solution naive = sandbox::load_solution(core::installed_paths().problems() / "row_sum_f32/naive.cu");
  const Judgement judgement = judge(naive, Effort::full);
  ASSERT_TRUE(judgement.measurement);
  ASSERT_EQ(judgement.measurement->workloads.size(), 1u);
  const WorkloadTiming& timing = judgement.measurement->workloads[0];
  EXPECT_GE(timing.pairs.size(), 15u);
  for (const Pair& pair : timing.pairs) EXPECT_GT(std::min(pair.candidate_us, pair.incumbent_us), 0);
  EXPECT_LE(judgement.measurement->speed_up.low, judgement.measurement->speed_up.high);
  EXPECT_EQ(judgement.measurement->clock, "cpu-rough");
}

TEST_F(JudgeTest, EverySeedIsItsOwn) {
  const sandbox::Solution naive = sandbox::load_solution(core::installed_paths().problems() / "row_sum_f32/naive.cu");
  EXPECT_NE(judge(naive, Effort::screen).seed, judge(naive, Effort::screen).seed);
}

}  // namespace
}  // namespace verifier
