// The CUDA Toolkit's tools with real processes: each of compute-sanitizer's finds what it is for, and nothing in a good
// kernel; Nsight Compute reads counters. Needs a GPU, NVRTC and both tools.
#include "verifier/devices/cuda/sanitizers.h"

#include <gtest/gtest.h>

#include "agent/campaign/devices.h"
#include "core/error.h"
#include "core/paths.h"
#include "sandbox/compile_pool.h"
#include "verifier/devices/cuda/profiler.h"

namespace agent::campaign {
namespace {

std::string row_sum(const std::string& body) {
  return R"(/* kernelwright
{
  "problem": "row_sum_f32",
  "workspace": {"scratch": {"bytes": "4 * M"}},
  "launches": [{"kernel": "row_sum", "grid": ["M"], "block": [64], "args": ["x", "y", "scratch", "M", "N"]}]
}
*/
extern "C" __global__ void row_sum(const float* x, float* y, float* scratch, int M, int N) {
  __shared__ float part[64];
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
)" + body;
}
constexpr const char* kEnd = R"(
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
)";
const std::string kAdd = "  for (int n = threadIdx.x; n < N; n += 64) sum += in[n];\n";

class ToolsOnGpu : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const core::Paths paths = core::installed_paths();
    const auto program = find_cuda_tool("compute-sanitizer");
    ASSERT_TRUE(program) << "compute-sanitizer is not here: set CUDA_HOME to the toolkit's folder";
    const auto gpus = gpu_devices(core::installed_paths(), benchsuite::Backend::cuda);
    pool_ = std::make_unique<sandbox::CompilePool>(cuda_compile_worker(paths, gpus.front().architecture), 1);
    sanitizers_ = std::make_unique<verifier::devices::cuda::Sanitizers>(
        *program, judged_device(paths, benchsuite::Backend::cuda, 0).worker);
  }
  static void TearDownTestSuite() {
    sanitizers_.reset();
    pool_.reset();
  }

  // The verdict's name; "nothing" when nothing was found.
  static std::string found_in(const std::string& source) {
    const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / "row_sum_f32");
    const sandbox::Solution solution = sandbox::parse_solution(source, "test.cu");
    verifier::judging::Builds builds(solution, sandbox::default_binding(solution));
    if (const sandbox::Rejected* rejected = builds.wait(*pool_, verifier::verdicts::Effort::confirm))
      return rejected->message;
    const auto verdict = sanitizers_->examine(builds, problem, nullptr);
    return verdict ? name_of(*verdict) : "nothing";
  }

  static std::unique_ptr<sandbox::CompilePool> pool_;
  static std::unique_ptr<verifier::devices::cuda::Sanitizers> sanitizers_;
};
std::unique_ptr<sandbox::CompilePool> ToolsOnGpu::pool_;
std::unique_ptr<verifier::devices::cuda::Sanitizers> ToolsOnGpu::sanitizers_;

TEST_F(ToolsOnGpu, NothingIsFoundInAGoodKernel) { EXPECT_EQ(found_in(row_sum(kAdd + kEnd)), "nothing"); }

TEST_F(ToolsOnGpu, AByteReadBeyondABufferIsFound) {
  const std::string body = "  if (blockIdx.x == M - 1 && threadIdx.x == 0) sum += 0 * in[N];\n" + kAdd + kEnd;
  EXPECT_EQ(found_in(row_sum(body)), "out_of_bounds");
}

TEST_F(ToolsOnGpu, AMissingBarrierIsFound) {
  std::string end = kEnd;
  end.replace(end.find("  __syncthreads();\n"), 19, "");
  EXPECT_EQ(found_in(row_sum(kAdd + end)), "race");
}

TEST_F(ToolsOnGpu, MemoryReadBeforeItIsWrittenIsFound) {
  const std::string body = "  sum = scratch[blockIdx.x] > 0 ? 1e-30f : 0;\n" + kAdd + kEnd;
  EXPECT_EQ(found_in(row_sum(body)), "uninitialised");
}

TEST_F(ToolsOnGpu, ADivergentBarrierIsFound) {
  const std::string body = "  if (threadIdx.x < 40) __syncthreads();\n" + kAdd + kEnd;
  EXPECT_EQ(found_in(row_sum(body)), "warp_misuse");
}

TEST_F(ToolsOnGpu, AProfilerReadsTheLimitOfAKernel) {
  const auto program = find_cuda_tool("ncu");
  ASSERT_TRUE(program) << "Nsight Compute is not here: set CUDA_HOME to the toolkit's folder";
  const core::Paths paths = core::installed_paths();
  verifier::devices::cuda::Profiler profiler(*program, judged_device(paths, benchsuite::Backend::cuda, 0).worker);
  const benchsuite::Problem problem = benchsuite::load_problem(paths.problems() / "row_sum_f32");
  const sandbox::Solution solution = sandbox::parse_solution(row_sum(kAdd + kEnd), "test.cu");
  verifier::judging::Builds builds(solution, sandbox::default_binding(solution));
  ASSERT_EQ(builds.wait(*pool_, verifier::verdicts::Effort::full), nullptr);
  for (int i = 0; i < 2; ++i) {  // the second time in a process of its own
    const auto counters = profiler.profile(builds, problem, nullptr);
    ASSERT_EQ(counters.size(), 1u);
    EXPECT_NE(counters[0].kernel.find("row_sum"), std::string::npos);
    EXPECT_GT(counters[0].dram.value(), 0.05);
    EXPECT_LE(counters[0].dram.value(), 1.05);
    EXPECT_GT(counters[0].occupancy.value(), 0.05);
    EXPECT_NEAR(counters[0].load_sectors.value(), 4, 0.5) << "of neighbouring floats";
    EXPECT_FALSE(counters[0].stalls.empty());
  }
}

}  // namespace
}  // namespace agent::campaign
