// Several judges side by side: every task is judged once.
#include "agent/campaign/judges/judge_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>

#include "agent/campaign/devices.h"
#include "core/paths.h"

namespace agent::campaign::judges {
namespace {
using verifier::verdicts::Effort;

TEST(JudgePool, JudgesSideBySide) {
  const core::Paths paths = core::installed_paths();
  const verifier::judging::JudgedDevice cpu = judged_device(paths, benchsuite::Backend::cpu, 0);
  JudgePool judges({cpu, cpu}, {});
  sandbox::CompilePool pool(cpu_worker(paths), 2);
  const benchsuite::Problem problem = benchsuite::load_problem(paths.problems() / "gelu_f32");
  judges.use_problem(problem, pool);
  EXPECT_EQ(judges.size(), 2u);

  // Alternates right and wrong solutions; a wrong one's plan covers half of the output.
  const sandbox::Solution right = sandbox::load_solution(paths.kernels() / "gelu_f32" / "float4_items.cu");
  const sandbox::Solution naive = sandbox::own_solution(problem, benchsuite::kNaiveFile);
  std::string half = naive.source;
  const std::string grid = "ceil_div(N, 256)";
  ASSERT_NE(half.find(grid), std::string::npos);
  half.replace(half.find(grid), grid.size(), "ceil_div(N, 512)");
  const sandbox::Solution wrong = sandbox::parse_solution(half, "half.cu");
  verifier::judging::Builds right_builds(right, sandbox::default_binding(right)), wrong_builds(wrong, {});
  ASSERT_EQ(right_builds.wait(pool, Effort::screen), nullptr);
  ASSERT_EQ(wrong_builds.wait(pool, Effort::screen), nullptr);
  std::array<std::promise<JudgeResult>, 6> told;
  for (size_t i = 0; i < told.size(); ++i) {
    judges.submit({i % 2 == 0 ? &right_builds : &wrong_builds, nullptr, Effort::screen, {}},
                  [&told, i](JudgeResult result) { told[i].set_value(std::move(result)); });
  }
  for (size_t i = 0; i < told.size(); ++i) {
    const JudgeResult result = told[i].get_future().get();
    EXPECT_THAT(result.trouble, testing::IsEmpty());
    const auto& judgement = std::get<verifier::verdicts::Judgement>(result.outcome);
    EXPECT_EQ(name_of(judgement.verdict), i % 2 == 0 ? "correct" : "not_written") << i;
  }
}

TEST(JudgePool, DrainingDropsQueuedTasksAndWaitsForTheRest) {
  const core::Paths paths = core::installed_paths();
  JudgePool judges({judged_device(paths, benchsuite::Backend::cpu, 0)}, {});
  sandbox::CompilePool pool(cpu_worker(paths), 2);
  judges.use_problem(benchsuite::load_problem(paths.problems() / "gelu_f32"), pool);
  std::atomic<int> told{0};
  for (int i = 0; i < 20; ++i)
    judges.submit({nullptr, nullptr, Effort::screen, {}}, [&](const JudgeResult&) { ++told; });
  judges.drain();
  const int before = told;
  EXPECT_LT(before, 20);
  judges.with_first([](verifier::judging::Judge&) { return 0; });
  EXPECT_EQ(told, before);
}

TEST(JudgePool, SaysWhyAJudgeDoesNotStart) {
  const verifier::judging::JudgedDevice none{{"/nowhere/kernelwright-cpu", {}, {}}};
  EXPECT_THROW(JudgePool({none}, {}), core::SystemError);
}

}  // namespace
}  // namespace agent::campaign::judges
