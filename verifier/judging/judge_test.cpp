// The judge with its real workers: every case of the adversarial suite gets the verdict that it names, and leaves the
// judge as it was.
#include "verifier/judging/judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "core/paths.h"
#include "core/text.h"
#include "verifier/adversarial/case_judging.h"
#include "verifier/judging/cpu_worker_fixture.h"

namespace verifier::judging {
namespace {

namespace fs = std::filesystem;
constexpr int kClearPairs = 4, kLeastPairs = 8;

// One judge and one compile pool for all tests of this file: starting them costs more than judging.
class JudgeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const sandbox::process::WorkerCommand worker = test::cpu_worker();
    pool_ = std::make_unique<sandbox::CompilePool>(worker, 2);
    JudgeSettings settings;
    settings.check.launch_deadline_s = 4;  // a launch may take half of one, and more beside other tests
    settings.timing.screen_pairs = 3;
    settings.timing.clear_pairs = kClearPairs;
    settings.timing.least_pairs = kLeastPairs;
    settings.timing.most_pairs = 2 * kLeastPairs;
    settings.timing.most_s = 0.1;
    judge_ = std::make_unique<Judge>(JudgedDevice{worker}, settings);
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

  static verdicts::Judgement judge(const sandbox::Solution& solution, verdicts::Effort effort) {
    Builds builds(solution, sandbox::default_binding(solution));
    if (const sandbox::Rejected* rejected = builds.wait(*pool_, effort)) {
      return {verdicts::CompileFailed{rejected->reason, rejected->message, rejected->line}, {}, {}, 0};
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
bool was_violent(const verdicts::Verdict& verdict) {
  return std::holds_alternative<verdicts::Faulted>(verdict) || std::holds_alternative<verdicts::TimedOut>(verdict) ||
         std::holds_alternative<verdicts::Crashed>(verdict) ||
         std::holds_alternative<verdicts::GuardDamaged>(verdict) ||
         std::holds_alternative<verdicts::InputModified>(verdict) ||
         std::holds_alternative<verdicts::ForbiddenCall>(verdict) ||
         std::holds_alternative<verdicts::MemoryLimit>(verdict);
}

// By problem, since teaching one to the judge costs more than judging a case.
class AdversarialSuite : public JudgeTest, public testing::WithParamInterface<std::string> {};

TEST_P(AdversarialSuite, EveryCaseGetsTheVerdictItNames) {
  const std::vector<adversarial::AdversarialCase> suite =
      adversarial::load_adversarial_cases(core::installed_paths().adversarial(), 1);
  std::vector<const adversarial::AdversarialCase*> cases;
  for (const adversarial::AdversarialCase& one : suite) {
    if (one.solution.problem == GetParam() && one.runs_on("cpu") && !one.slow) cases.push_back(&one);
  }
  use(GetParam());
  judge_->draw_seeds_from(1);
  adversarial::judge_cases(*judge_, *pool_, cases, "cpu", adversarial::CaseEffort::least,
                           [](const adversarial::CaseResult& result) {
                             const verdicts::Judgement& judgement = result.judgement;
                             EXPECT_TRUE(adversarial::is_as_expected(result.of, "cpu", judgement))
                                 << result.of.name << " is " << name_of(judgement.verdict) << ": "
                                 << verdicts::sentence_for_people(judgement.verdict);
                             EXPECT_FALSE(adversarial::is_false_accept(result.of, "cpu", judgement)) << result.of.name;
                             if (!was_violent(judgement.verdict)) return true;
                             // Whatever it did, the next candidate is judged as ever.
                             const verdicts::Judgement after = judge(naive_, verdicts::Effort::screen);
                             EXPECT_TRUE(verdicts::is_correct(after.verdict))
                                 << result.of.name << ", then " << verdicts::sentence_for_people(after.verdict);
                             return true;
                           });
}

// From the files' text: every start of the test program lists them, and loading the cases takes 60 ms.
std::set<std::string> problems_of_the_suite() {
  const std::string field = "\"problem\": \"";
  std::set<std::string> problems;
  for (const auto& file : fs::directory_iterator(core::installed_paths().adversarial())) {
    if (file.path().extension() != ".cu") continue;
    const std::string text = core::read_file(file.path());
    const size_t at = text.find(field) + field.size();
    problems.insert(text.substr(at, text.find('"', at) - at));
  }
  return problems;
}
INSTANTIATE_TEST_SUITE_P(Problems, AdversarialSuite, testing::ValuesIn(problems_of_the_suite()),
                         [](const auto& problem) { return problem.param; });

TEST_F(JudgeTest, MeasuresWithEverySampleKept) {
  const verdicts::Judgement judgement = judge(naive_, verdicts::Effort::full);
  ASSERT_TRUE(judgement.measurement);
  ASSERT_EQ(judgement.measurement->workloads.size(), 1u);
  const verdicts::WorkloadTiming& timing = judgement.measurement->workloads[0];
  EXPECT_GE(timing.pairs.size(), static_cast<size_t>(kClearPairs));
  for (const statistics::Pair& pair : timing.pairs) EXPECT_GT(std::min(pair.candidate_us, pair.incumbent_us), 0);
  EXPECT_LE(judgement.measurement->speed_up.low, judgement.measurement->speed_up.high);
  EXPECT_EQ(judgement.measurement->clock, "cpu-rough");
}

TEST_F(JudgeTest, SaysInWhatPatternAResultIsWrong) {
  sandbox::Solution halves = naive_;
  const std::string right = "y[row] = sum;";
  ASSERT_NE(halves.source.find(right), std::string::npos);
  halves.source.replace(halves.source.find(right), right.size(), "y[row] = 0.5f * sum;");
  const verdicts::Judgement judgement = judge(halves, verdicts::Effort::screen);
  const auto* wrong = std::get_if<verdicts::WrongResult>(&judgement.verdict);
  ASSERT_NE(wrong, nullptr) << name_of(judgement.verdict);
  ASSERT_TRUE(wrong->pattern) << verdicts::sentence_for_people(judgement.verdict);
  EXPECT_EQ(name_of(wrong->pattern->kind), "scaled");
  EXPECT_NE(verdicts::sentence_for_models(judgement.verdict).find("every wrong element is 1/2"), std::string::npos);
}

// A confirmation against naive follows it, which has every check.
TEST_F(JudgeTest, AConfirmationAgainstAnotherThanNaiveChecksAsAFullJudgement) {
  sandbox::Solution other = naive_;
  other.source += "\n// another\n";
  Builds incumbent(other, sandbox::default_binding(other)), candidate(naive_, sandbox::default_binding(naive_));
  for (Builds* builds : {&incumbent, &candidate}) {
    ASSERT_EQ(builds->wait(*pool_, verdicts::Effort::confirm), nullptr);
  }
  const auto launches = [](const verdicts::Judgement& judgement) {
    const auto* correct = std::get_if<verdicts::Correct>(&judgement.verdict);
    return correct == nullptr ? 0 : correct->launches;
  };
  const auto full = launches(judge_->judge(candidate, judge_->naive(), verdicts::Effort::full));
  const auto confirmed = launches(judge_->judge(candidate, incumbent, verdicts::Effort::confirm));
  EXPECT_GT(full, 0);
  EXPECT_GT(confirmed, full / 2);
  EXPECT_LT(confirmed, 2 * full);
}

TEST_F(JudgeTest, EverySeedIsItsOwn) {
  EXPECT_NE(judge(naive_, verdicts::Effort::screen).seed, judge(naive_, verdicts::Effort::screen).seed);
}

}  // namespace
}  // namespace verifier::judging
