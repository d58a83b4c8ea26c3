// The judge with its real workers on a GPU: every case of the adversarial suite and every shipped kernel gets its
// required verdict, as do plans with clusters, cooperative and dependent launches and tensor maps. Needs a GPU of
// compute capability 9.0 and NVRTC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "agent/campaign/devices.h"
#include "core/paths.h"
#include "sandbox/compile_pool.h"
#include "verifier/adversarial/case_judging.h"
#include "verifier/judging/judge.h"

namespace agent::campaign {
namespace {
using verifier::verdicts::Effort;
using verifier::verdicts::Judgement;

// One judge and one compile pool for all tests of this file: starting them costs more than judging.
class JudgeOnGpu : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (judge_) return;  // started by an earlier suite
    verifier::judging::JudgeSettings settings;
    settings.check.launch_deadline_s = 1;
    settings.timing.most_s = 0.2;
    const core::Paths paths = core::installed_paths();
    judge_ = std::make_unique<verifier::judging::Judge>(judged_device(paths, benchsuite::Backend::cuda, 0), settings);
    const std::string architecture = judge_->greeting().at("architecture").get<std::string>();
    pool_ = std::make_unique<sandbox::CompilePool>(cuda_compile_worker(paths, architecture), 2);
  }

  static void use(const std::string& problem) {
    if (problem == in_use_) return;
    judge_->use_problem(benchsuite::load_problem(core::installed_paths().problems() / problem), *pool_);
    in_use_ = problem;
  }

  static Judgement judge(const sandbox::Solution& solution, Effort effort) {
    use(solution.problem);
    verifier::judging::Builds builds(solution, sandbox::default_binding(solution));
    if (const sandbox::Rejected* rejected = builds.wait(*pool_, effort)) {
      return {verifier::verdicts::CompileFailed{rejected->reason, rejected->message, rejected->line}, {}, {}, 0};
    }
    return judge_->judge(builds, judge_->naive(), effort);
  }

  // A good kernel is judged as before, whatever came before it.
  static void expect_in_order() {
    const sandbox::Solution naive = sandbox::load_solution(core::installed_paths().problems() / in_use_ / "naive.cu");
    const Judgement judgement = judge(naive, Effort::screen);
    EXPECT_TRUE(verifier::verdicts::is_correct(judgement.verdict))
        << verifier::verdicts::sentence_for_people(judgement.verdict);
  }

  static std::unique_ptr<verifier::judging::Judge> judge_;
  static std::unique_ptr<sandbox::CompilePool> pool_;
  static std::string in_use_;  // the problem
};
std::unique_ptr<verifier::judging::Judge> JudgeOnGpu::judge_;
std::unique_ptr<sandbox::CompilePool> JudgeOnGpu::pool_;
std::string JudgeOnGpu::in_use_;

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// One wrong element shows no pattern, so the judge checks other shapes before it describes it; the GPU's worker dies
// there.
TEST_F(JudgeOnGpu, AWorkerThatFallsAfterTheFirstFailureIsReplaced) {
  const sandbox::Solution solution = sandbox::parse_solution(R"(/* kernelwright
{
  "problem": "row_sum_f32",
  "launches": [{"kernel": "row_sum", "grid": ["M"], "block": [32], "args": ["x", "y", "M", "N"]}]
}
*/
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  if (threadIdx.x != 0) return;
  float sum = M == 1 ? 1 : 0;
  for (int n = 0; n < N; ++n) sum += x[(size_t)blockIdx.x * N + n];
  y[M == 1 ? 0 : blockIdx.x + (1ull << 40)] = sum;
}
)",
                                                             "test.cu");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(name_of(judge(solution, Effort::full).verdict), "wrong_result");
    expect_in_order();
  }
}

class AdversarialOnGpu : public JudgeOnGpu, public testing::WithParamInterface<std::string> {};

TEST_P(AdversarialOnGpu, EveryCaseOfAProblemGetsTheVerdictItNames) {
  const std::vector<verifier::adversarial::AdversarialCase> suite =
      verifier::adversarial::load_adversarial_cases(core::installed_paths().adversarial(), 1);
  std::vector<const verifier::adversarial::AdversarialCase*> cases;
  for (const verifier::adversarial::AdversarialCase& one : suite) {
    if (one.solution.problem == GetParam() && one.runs_on("cuda")) cases.push_back(&one);
  }
  use(GetParam());
  const auto judged = [](const verifier::adversarial::CaseResult& result) {
    EXPECT_TRUE(verifier::adversarial::is_as_expected(result.of, "cuda", result.judgement))
        << result.of.name << " is " << name_of(result.judgement.verdict) << ": "
        << verifier::verdicts::sentence_for_people(result.judgement.verdict);
    SCOPED_TRACE("after " + result.of.name);
    if (!verifier::verdicts::is_correct(result.judgement.verdict)) expect_in_order();
    return true;
  };
  verifier::adversarial::judge_cases(*judge_, *pool_, cases, "cuda", verifier::adversarial::CaseEffort::full, judged);
}

std::vector<std::string> problems_of_the_suite() {
  std::vector<std::string> problems;
  for (const verifier::adversarial::AdversarialCase& one :
       verifier::adversarial::load_adversarial_cases(core::installed_paths().adversarial(), 1)) {
    if (problems.empty() || problems.back() != one.solution.problem) problems.push_back(one.solution.problem);
  }
  return problems;
}
INSTANTIATE_TEST_SUITE_P(Problems, AdversarialOnGpu, testing::ValuesIn(problems_of_the_suite()),
                         [](const auto& problem) { return problem.param; });

class ShippedOnGpu : public JudgeOnGpu, public testing::WithParamInterface<std::filesystem::path> {};

TEST_P(ShippedOnGpu, IsCorrect) {
  const sandbox::Solution solution = sandbox::load_solution(GetParam());
  const Judgement judgement = judge(solution, Effort::full);
  EXPECT_TRUE(verifier::verdicts::is_correct(judgement.verdict))
      << verifier::verdicts::sentence_for_people(judgement.verdict);
  EXPECT_TRUE(judgement.measurement.has_value());
}
std::vector<std::filesystem::path> kernels_for_cuda() {
  std::vector<std::filesystem::path> files = files_below(core::installed_paths().kernels());
  std::erase_if(files, [](const std::filesystem::path& file) {
    const std::vector<std::string> backends = sandbox::load_solution(file).backends;
    return std::find(backends.begin(), backends.end(), "cuda") == backends.end();
  });
  return files;
}
INSTANTIATE_TEST_SUITE_P(Kernels, ShippedOnGpu, testing::ValuesIn(kernels_for_cuda()), [](const auto& file) {
  return file.param.parent_path().filename().string() + "_" + file.param.stem().string();
});

// y[i] = a[i] + b[i] with Hopper's features. `plan`: the header's fields beside the problem.
sandbox::Solution vector_add(const std::string& plan, const std::string& source) {
  return sandbox::parse_solution(
      "/* kernelwright\n{\"problem\": \"vector_add_f32\", \"backends\": [\"cuda\"], \"arch\": \"sm_90\", " + plan +
          "}\n*/\n" + source,
      "plan.cu");
}

struct Plan {
  const char* name;
  const char* plan;
  const char* source;
  // Text of the plan and its replacement, which exceeds the device's limits.
  const char* fits;
  const char* exceeds;
};
std::ostream& operator<<(std::ostream& out, const Plan& plan) { return out << plan.name; }

const Plan kPlans[] = {
    {"cluster", R"plan("launches": [{"kernel": "add", "grid": ["2 * ceil_div(N, 512)"], "block": [256], "cluster": [2],
                                 "shared_bytes": 0, "args": ["a", "b", "y", "N"]}])plan",
     R"plan(#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// Each block computes sums that the other block of its cluster writes.
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
  __shared__ float part[256];
  cg::cluster_group cluster = cg::this_cluster();
  const long long i = blockIdx.x * 256ll + threadIdx.x, other = (blockIdx.x ^ 1) * 256ll + threadIdx.x;
  part[threadIdx.x] = i < N ? a[i] + b[i] : 0;
  cluster.sync();
  if (other < N) y[other] = cluster.map_shared_rank(part, cluster.block_rank() ^ 1)[threadIdx.x];
  cluster.sync();
})plan",
     "\"shared_bytes\": 0", "\"shared_bytes\": 232448"},
    {"cooperative", R"plan("launches": [{"kernel": "add", "grid": [64], "block": [256], "cooperative": true,
                                     "args": ["a", "b", "y", "N"]}])plan",
     R"plan(#include <cooperative_groups.h>
// Adds a, then other threads add b.
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
  const long long rank = blockIdx.x * 256ll + threadIdx.x, size = gridDim.x * 256ll;
  for (long long i = rank; i < N; i += size) y[i] = a[i];
  cooperative_groups::this_grid().sync();
  for (long long i = N - 1 - rank; i >= 0; i -= size) y[i] += b[i];
})plan",
     "[64]", "[100000]"},
    {"dependent_launch", R"plan("workspace": {"copy": {"bytes": "4 * N"}},
     "launches": [{"kernel": "first", "grid": ["ceil_div(N, 256)"], "block": [256], "args": ["a", "copy", "N"]},
                  {"kernel": "second", "grid": ["ceil_div(N, 256)"], "block": [256], "overlaps_previous": true,
                   "shared_bytes": 0, "args": ["copy", "b", "y", "N"]}])plan",
     R"plan(extern "C" __global__ void first(const float* a, float* copy, int N) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  asm volatile("griddepcontrol.launch_dependents;");
  if (i < N) copy[i] = a[i];
}
extern "C" __global__ void second(const float* copy, const float* b, float* y, int N) {
  __shared__ float part[256];
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  part[threadIdx.x] = i < N ? b[i] : 0;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (i < N) y[i] = copy[i] + part[threadIdx.x];
})plan",
     "\"shared_bytes\": 0", "\"shared_bytes\": 232448"},
    {"tensor_map", R"plan("tensor_maps": {"a_map": {"tensor": "a", "box": [256]}},
     "launches": [{"kernel": "add", "grid": ["ceil_div(N, 256)"], "block": [256], "shared_bytes": 0,
                   "args": ["a_map", "b", "y", "N"]}])plan",
     R"plan(#include <cuda.h>
extern "C" __global__ void add(const __grid_constant__ CUtensorMap a_map, const float* b, float* y, int N) {
  __shared__ alignas(128) float tile[256];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned tile_at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const unsigned barrier_at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier_at));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(barrier_at) : "memory");
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
                 ::"r"(tile_at), "l"(&a_map), "r"((int)blockIdx.x * 256), "r"(barrier_at) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred done;\nwait:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
               "@!done bra wait;\n}" ::"r"(barrier_at) : "memory");
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < N) y[i] = tile[threadIdx.x] + b[i];
})plan",
     "\"shared_bytes\": 0", "\"shared_bytes\": 232448"},
};

class PlanOnGpu : public JudgeOnGpu, public testing::WithParamInterface<Plan> {};

TEST_P(PlanOnGpu, RunsAndIsRight) {
  const sandbox::Solution solution = vector_add(GetParam().plan, GetParam().source);
  const Judgement judgement = judge(solution, Effort::full);
  EXPECT_EQ(name_of(judgement.verdict), "correct") << verifier::verdicts::sentence_for_people(judgement.verdict);
}

TEST_P(PlanOnGpu, IsRefusedBeforeItIsLaunchedWhereItExceedsTheDevice) {
  std::string plan = GetParam().plan;
  const std::string fits = GetParam().fits;
  plan.replace(plan.find(fits), fits.size(), GetParam().exceeds);
  const sandbox::Solution solution = vector_add(plan, GetParam().source);
  const Judgement judgement = judge(solution, Effort::full);
  EXPECT_EQ(name_of(judgement.verdict), "invalid_plan") << verifier::verdicts::sentence_for_people(judgement.verdict);
  EXPECT_THAT(verifier::verdicts::sentence_for_people(judgement.verdict), testing::HasSubstr("this device"));
  expect_in_order();
}
INSTANTIATE_TEST_SUITE_P(Plans, PlanOnGpu, testing::ValuesIn(kPlans),
                         [](const auto& plan) { return std::string(plan.param.name); });

}  // namespace
}  // namespace agent::campaign
