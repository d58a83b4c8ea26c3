// The judge with its real workers: every case of the adversarial suite gets the verdict that it names, and leaves the
// judge as it was.
#include "verifier/judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "core/paths.h"
#include "verifier/suite_judging.h"

namespace verifier {
namespace {

constexpr int kClearPairs = 4, kLeastPairs = 8;

// One judge and one compile pool for all tests of this file: starting them costs more than judging.
class JudgeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const core::Paths paths = core::installed_paths();
    const sandbox::process::WorkerCommand worker{paths.worker("cpu"), {"--device-headers", paths.device_headers().string()}, {}};
    pool_ = std::make_unique<sandbox::CompilePool>(worker, 2);
    JudgeSettings settings;
    settings.check.launch_deadline_s = 2;  // the checking build takes half of one at a timed shape
    settings.timing.screen_pairs = 3;
    settings.timing.clear_pairs = kClearPairs;
    settings.timing.least_pairs = kLeastPairs;
    settings.timing.most_pairs = 2 * kLeastPairs;
    settings.timing.most_s = 0.1;
    judge_ = std::make_unique<Judge>(JudgedDevice{worker, false, {}}, settings);
    use("row_sum_f32");
  }
  static void TearDownTestSuite() {
    judge_.reset();
    pool_.reset();
  }

  static void use(const std::string& problem) {
    judge_->use_problem(benchsuite::load_problem(core::installed_paths().problems() / problem), *pool_);
    naive_ = sandbox::load_solution(core::installed_paths().problems() / problem / "naive.cu");
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
  static sandbox::Solution naive_;
};
std::unique_ptr<sandbox::CompilePool> JudgeTest::pool_;
std::unique_ptr<Judge> JudgeTest::judge_;
sandbox::Solution JudgeTest::naive_;

// Did it end the candidate's process, or might it have harmed another?
bool was_violent(const Verdict& verdict) {
  return std::holds_alternative<Faulted>(verdict) || std::holds_alternative<TimedOut>(verdict) ||
         std::holds_alternative<Crashed>(verdict) || std::holds_alternative<GuardDamaged>(verdict) ||
         std::holds_alternative<InputModified>(verdict) || std::holds_alternative<ForbiddenCall>(verdict) ||
         std::holds_alternative<MemoryLimit>(verdict);
}

// By problem, since teaching one to the judge costs more than judging a case.
class AdversarialSuite : public JudgeTest, public testing::WithParamInterface<std::string> {};

TEST_P(AdversarialSuite, EveryCaseGetsTheVerdictItNames) {
  const std::vector<Case> suite = load_suite(core::installed_paths().adversarial(), 1);
  std::vector<const Case*> cases;
  for (const Case& one : suite) {
    if (one.solution.problem == GetParam() && one.runs_on("cpu") && !one.slow) cases.push_back(&one);
  }
  use(GetParam());
  judge_->draw_seeds_from(1);
  judge_cases(*judge_, *pool_, cases, "cpu", CaseEffort::least, [](const CaseResult& result) {
    const Judgement& judgement = result.judgement;
    EXPECT_TRUE(is_as_expected(result.of, "cpu", judgement))
        << result.of.name << " is " << name_of(judgement.verdict) << ": " << sentence_for_people(judgement.verdict);
    EXPECT_FALSE(is_false_accept(result.of, "cpu", judgement)) << result.of.name;
    if (!was_violent(judgement.verdict)) return true;
    // Whatever it did, the next candidate is judged as ever.
    const Judgement after = judge(naive_, Effort::screen);
    EXPECT_TRUE(is_correct(after.verdict)) << result.of.name << ", then " << sentence_for_people(after.verdict);
    return true;
  });
}

std::vector<std::string> problems_of_the_suite() {
  std::vector<std::string> problems;
  for (const Case& one : load_suite(core::installed_paths().adversarial(), 1)) {
    if (problems.empty() || problems.back() != one.solution.problem) problems.push_back(one.solution.problem);
  }
  return problems;
}
INSTANTIATE_TEST_SUITE_P(Problems, AdversarialSuite, testing::ValuesIn(problems_of_the_suite()),
                         [](const auto& problem) { return problem.param; });

TEST_F(JudgeTest, MeasuresWithEverySampleKept) {
  const Judgement judgement = judge(naive_, Effort::full);
  ASSERT_TRUE(judgement.measurement);
  ASSERT_EQ(judgement.measurement->workloads.size(), 1u);
  const WorkloadTiming& timing = judgement.measurement->workloads[0];
  EXPECT_GE(timing.pairs.size(), static_cast<size_t>(kClearPairs));
  for (const Pair& pair : timing.pairs) EXPECT_GT(std::min(pair.candidate_us, pair.incumbent_us), 0);
  EXPECT_LE(judgement.measurement->speed_up.low, judgement.measurement->speed_up.high);
  EXPECT_EQ(judgement.measurement->clock, "cpu-rough");
}

TEST_F(JudgeTest, SaysInWhatPatternAResultIsWrong) {
  sandbox::Solution halves = naive_;
  const std::string right = "y[row] = sum;";
  ASSERT_NE(halves.source.find(right), std::string::npos);
  halves.source.replace(halves.source.find(right), right.size(), "y[row] = 0.5f * sum;");
  const Judgement judgement = judge(halves, Effort::screen);
  const auto* wrong = std::get_if<WrongResult>(&judgement.verdict);
  ASSERT_NE(wrong, nullptr) << name_of(judgement.verdict);
  ASSERT_TRUE(wrong->pattern) << sentence_for_people(judgement.verdict);
  EXPECT_EQ(name_of(wrong->pattern->kind), "scaled");
  EXPECT_NE(sentence_for_models(judgement.verdict).find("every wrong element is 1/2"), std::string::npos);
}

TEST_F(JudgeTest, EverySeedIsItsOwn) {
  EXPECT_NE(judge(naive_, Effort::screen).seed, judge(naive_, Effort::screen).seed);
}

}  // namespace
}  // namespace verifier
