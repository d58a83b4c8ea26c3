// The cpu device's look at kernels that were written for a GPU, with its real compiler and worker.
#include "agent/campaign/judges/host_check.h"

#include <gtest/gtest.h>

#include "agent/campaign/devices.h"
#include "benchsuite/problem.h"
#include "core/paths.h"
#include "core/text.h"

namespace agent::campaign::judges {
namespace {

std::string row_sum(const std::string& barrier, const std::string& before = "") {
  return R"(/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "launches": [{"kernel": "row_sum", "grid": ["M"], "block": [64], "args": ["x", "y", "M", "N"]}]
}
*/
)" + before +
         R"(extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) sum += x[(size_t)blockIdx.x * N + n];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    )" + barrier +
         R"(
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
)";
}

class HostCheckTest : public testing::Test {
 protected:
  verifier::verdicts::Judgement look(const std::string& source, const std::string& name = "row_sum_f32") {
    const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / name);
    const sandbox::Solution solution = sandbox::parse_solution(source, "test.cu");
    verifier::verdicts::Judgement judgement{verifier::verdicts::Correct{}, {}, {}, 0};
    HostCheck::add(check_.begin(problem, solution, sandbox::default_binding(solution)).get(), judgement);
    return judgement;
  }
  HostCheck check_{judged_device(core::installed_paths(), benchsuite::Backend::cpu, 0),
                   cpu_worker(core::installed_paths())};
};

TEST_F(HostCheckTest, ARightKernelPasses) {
  const auto judgement = look(row_sum("__syncthreads();"));
  const auto& correct = std::get<verifier::verdicts::Correct>(judgement.verdict);
  EXPECT_TRUE(correct.host_check->passed);
  EXPECT_EQ(correct.scope.not_run, std::vector<int64_t>());
}

TEST_F(HostCheckTest, WhatWasNotSeenToRunIsPartOfTheScope) {
  const auto judgement = look(row_sum("__syncthreads(); if (N < 1) y[0] = x[0];"));
  const auto& correct = std::get<verifier::verdicts::Correct>(judgement.verdict);
  EXPECT_TRUE(correct.host_check->passed);
  ASSERT_TRUE(correct.scope.not_run.has_value());
  EXPECT_EQ(correct.scope.not_run->size(), 1u);
}

TEST_F(HostCheckTest, ARaceThatAGpuHidesTakesTheWin) {
  EXPECT_EQ(name_of(look(row_sum("if (half > 16) __syncthreads();")).verdict), "race");
  EXPECT_TRUE(verifier::verdicts::is_correct(look(row_sum("__syncthreads();")).verdict)) << "its judge stays in order";
}

TEST_F(HostCheckTest, UnsetSharedMemoryMayBeReadWhereItDoesNotShow) {
  const std::string source =
      core::read_file(core::installed_paths().adversarial() / "honest_computes_with_unset_lanes.cu");
  const auto judgement = look(source);
  ASSERT_TRUE(verifier::verdicts::is_correct(judgement.verdict)) << sentence_for_people(judgement.verdict);
  EXPECT_TRUE(std::get<verifier::verdicts::Correct>(judgement.verdict).host_check->passed);
  const std::string kept = "= part[0];";
  const size_t at = source.find(kept);
  ASSERT_NE(at, std::string::npos);
  const auto shown = look(std::string(source).replace(at, kept.size(), "= part[0] + 0 * part[95];"));
  EXPECT_EQ(name_of(shown.verdict), "uninitialised") << sentence_for_people(shown.verdict);
}

TEST_F(HostCheckTest, AKernelOfWarpgroupsIsRightAndItsMissingWaitIsFound) {
  const std::filesystem::path file = core::installed_paths().kernels() / "gemm_bf16" / "persistent_wgmma.cu";
  const std::string source = sandbox::load_solution(file).source, wait = "wgmma::wait<1>();";
  EXPECT_TRUE(std::get<verifier::verdicts::Correct>(look(source, "gemm_bf16").verdict).host_check->passed);
  const size_t at = source.find(wait);
  ASSERT_NE(at, std::string::npos);
  const auto judgement = look(std::string(source).replace(at, wait.size(), "wgmma::wait<2>();"), "gemm_bf16");
  EXPECT_EQ(name_of(judgement.verdict), "race") << sentence_for_people(judgement.verdict);
}

// 16896 threads at once, in the jail.
TEST_F(HostCheckTest, ACooperativeLaunchIsRightAndItsMissingBarrierIsFound) {
  const auto source = [](const std::string& barrier) {
    return R"(/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "workspace": {"parts": {"bytes": "4 * 132 * M"}},
  "launches": [{"kernel": "row_sum", "grid": [132], "block": [128], "cooperative": true,
                "args": ["x", "parts", "y", "M", "N"]}]
}
*/
#include <cooperative_groups.h>
extern "C" __global__ void row_sum(const float* x, float* parts, float* y, int M, int N) {
  const int t = threadIdx.x;
  for (int m = t; m < M; m += 128) {
    float sum = 0;
    for (int n = blockIdx.x; n < N; n += 132) sum += x[(size_t)m * N + n];
    parts[(size_t)m * 132 + blockIdx.x] = sum;
  }
  )" + barrier +
           R"(
  for (int m = blockIdx.x * 128 + t; m < M; m += 132 * 128) {
    float sum = 0;
    for (int i = 0; i < 132; ++i) sum += parts[(size_t)m * 132 + i];
    y[m] = sum;
  }
}
)";
  };
  const auto judgement = look(source("cooperative_groups::this_grid().sync();"));
  ASSERT_TRUE(verifier::verdicts::is_correct(judgement.verdict)) << sentence_for_people(judgement.verdict);
  const auto& check = std::get<verifier::verdicts::Correct>(judgement.verdict).host_check;
  EXPECT_TRUE(check->passed) << check->why_not;
  const auto race = look(source("__syncthreads();"));
  EXPECT_EQ(name_of(race.verdict), "race") << sentence_for_people(race.verdict);
}

TEST_F(HostCheckTest, AWrongResultIsExplainedByItsFault) {
  const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / "row_sum_f32");
  const auto explained = [&](const std::string& source) {
    const sandbox::Solution solution = sandbox::parse_solution(source, "test.cu");
    verifier::verdicts::WrongResult wrong;
    wrong.output = "y";
    verifier::verdicts::Judgement judgement{wrong, {}, {}, 0};
    HostCheck::explain(check_.begin(problem, solution, sandbox::default_binding(solution)).get(), judgement);
    return judgement.verdict;
  };
  const verifier::verdicts::Verdict race = explained(row_sum("if (half > 16) __syncthreads();"));
  EXPECT_EQ(name_of(race), "race");
  EXPECT_NE(sentence_for_people(race).find("on the GPU: Wrong result"), std::string::npos) << sentence_for_people(race);
  EXPECT_EQ(name_of(explained(row_sum("__syncthreads(); if (half == 1 && threadIdx.x == 0) part[0] += 1;"))),
            "wrong_result")
      << "a mere wrong result says no more than the GPU's";
}

TEST_F(HostCheckTest, ALargerShapeThatTakesTooLongIsNamed) {
  HostCheck hurried(judged_device(core::installed_paths(), benchsuite::Backend::cpu, 0),
                    cpu_worker(core::installed_paths()), 6);
  const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / "row_sum_f32");
  const auto found = [&](const std::string& when) {
    const sandbox::Solution solution = sandbox::parse_solution(
        row_sum("if (" + when + ") for (volatile long k = 0; k < 1000000000000; ++k) {} __syncthreads();"), "test.cu");
    return hurried.begin(problem, solution, sandbox::default_binding(solution)).get();
  };
  const HostCheck::Finding larger = found("(long)M * N > 100000");
  EXPECT_TRUE(larger.record.passed) << larger.record.why_not;
  EXPECT_NE(larger.record.why_not.find("Did not end within 3 s"), std::string::npos) << larger.record.why_not;
  const HostCheck::Finding test_shape = found("N == 509");
  EXPECT_FALSE(test_shape.record.passed);
  EXPECT_NE(test_shape.record.why_not.find("test_13x509"), std::string::npos) << test_shape.record.why_not;
}

TEST_F(HostCheckTest, CodeThatTheCpuDeviceLacksIsNotHeldAgainstAKernel) {
  const auto judgement = look(row_sum("asm volatile(\"tcgen05.wait::st.sync.aligned;\"); __syncthreads();"));
  const auto& check = std::get<verifier::verdicts::Correct>(judgement.verdict).host_check;
  EXPECT_FALSE(check->passed);
  EXPECT_NE(check->why_not.find("tcgen05.wait::st"), std::string::npos) << check->why_not;
}

// Each residue is drawn once, so that one judge of the three meets it.
TEST_F(HostCheckTest, JudgesThatShareTheShapesMissNone) {
  const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / "row_sum_f32");
  HostCheck shared(judged_device(core::installed_paths(), benchsuite::Backend::cpu, 0),
                   cpu_worker(core::installed_paths()), HostCheck::kMost_s, 3);
  const auto verdict_of = [&](const std::string& source) {
    const sandbox::Solution solution = sandbox::parse_solution(source, "test.cu");
    verifier::verdicts::Judgement judgement{verifier::verdicts::Correct{}, {}, {}, 0};
    HostCheck::add(shared.begin(problem, solution, sandbox::default_binding(solution)).get(), judgement);
    return judgement.verdict;
  };
  const auto right = verdict_of(row_sum("__syncthreads();"));
  EXPECT_TRUE(std::get<verifier::verdicts::Correct>(right).host_check->passed);
  for (const int residue : {2, 6, 11}) {
    const std::string wrong = row_sum("if (N % 16 != " + std::to_string(residue) + ") __syncthreads();");
    EXPECT_EQ(name_of(verdict_of(wrong)), "race") << residue;
  }
}

// compute-sanitizer's racecheck is wrong about mbarriers at which one lane arrives for its warp.
TEST(HostCheckRecord, ADoubtfulRaceCountsUnlessTheCpuDeviceFindsNone) {
  const verifier::verdicts::Verdict race =
      verifier::verdicts::Faulted{{}, {sandbox::FaultKind::race, "racecheck: Error: Race reported", "k", {}, {}, {}}};
  const auto settled = [&](HostCheck::Finding finding) {
    verifier::verdicts::Judgement judgement{verifier::verdicts::Correct{}, {}, {}, 0};
    HostCheck::add(std::move(finding), judgement, race);
    return judgement.verdict;
  };
  const auto passed = settled({{}, {true, ""}});
  ASSERT_TRUE(verifier::verdicts::is_correct(passed));
  EXPECT_NE(sentence_for_people(passed).find("this does not count: race"), std::string::npos)
      << sentence_for_people(passed);
  const auto undecided = settled({{}, {false, "a cooperative launch of 270336 threads is too large"}});
  EXPECT_EQ(name_of(undecided), "race");
  EXPECT_EQ(name_of(settled({{}, {true, ""}, false})), "race") << "not all that racecheck watched was executed";
  EXPECT_NE(sentence_for_people(undecided).find("cooperative launch"), std::string::npos);
  EXPECT_EQ(name_of(settled({verifier::verdicts::NotWritten{}, {false, ""}})),
            name_of(verifier::verdicts::NotWritten{}));
}

}  // namespace
}  // namespace agent::campaign::judges
