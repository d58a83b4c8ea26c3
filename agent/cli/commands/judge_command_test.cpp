// kernelwright judge with several files, with --control and with --screen.
#include <gtest/gtest.h>

#include <fstream>

#include "agent/campaign/program_fixture.h"
#include "core/strict_json.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
using campaign::test::Ended;
using campaign::test::Home;
using core::Json;

std::string shipped_file(const std::string& file) { return (core::installed_paths().kernels() / file).string(); }
std::string adversarial_file(const std::string& name) {
  return KW_SOURCE_FOLDER "/verifier/adversarial/" + name + ".cu";
}

std::vector<Json> lines_of(const std::string& out) {
  std::vector<Json> lines;
  for (const std::string& line : core::split(out, '\n')) {
    if (!line.empty()) lines.push_back(Json::parse(line));
  }
  return lines;
}

TEST(JudgeCommand, JudgesFilesOfSeveralProblemsInTheirOrder) {
  const Home home;
  const std::vector<std::string> files{shipped_file("gelu_f32/float4_items.cu"), adversarial_file("trap"),
                                       adversarial_file("honest_tree"), shipped_file("gelu_f32/float4_items.cu")};
  const Ended ended = home.run({"--json", "judge", "--screen", files[0], files[1], files[2], files[3]});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  const std::vector<Json> lines = lines_of(ended.out);
  ASSERT_EQ(lines.size(), files.size());
  const char* verdicts[] = {"correct", "trap", "correct", "correct"};
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(lines[i].at("file"), files[i]);
    EXPECT_EQ(lines[i].at("verdict"), verdicts[i]);
  }
  EXPECT_TRUE(home.leftover_processes().empty());
}

TEST(JudgeCommand, OneWrongFileStopsItBeforeAnythingIsJudged) {
  const Home home;
  const Ended ended = home.run({"--json", "judge", shipped_file("gelu_f32/float4_items.cu"), "nowhere.cu"});
  EXPECT_EQ(ended.exit_code, 1);
  const std::vector<Json> lines = lines_of(ended.out);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].at("error").get<std::string>().find("nowhere.cu"), std::string::npos);
}

// N is never below 1.
constexpr const char* kGeluWithIdleCode = R"k(/* kernelwright
{"problem": "gelu_f32", "backends": ["cpu"],
 "launches": [{"kernel": "gelu", "grid": ["ceil_div(N, 1024)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}]}
*/
extern "C" __global__ void gelu(const float* x, float* y, int N) {
  if (N < 1) {
    y[0] = expf(x[0]);
  }
  for (int i = blockIdx.x * 1024 + threadIdx.x; i < N && i < (int)(blockIdx.x + 1) * 1024; i += 256) {
    y[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
  }
}
)k";

TEST(JudgeCommand, AConfirmationSaysWhichLinesItHasNotSeenRun) {
  const Home home;
  const std::string file = home.folder() / "gelu.cu";
  std::ofstream(file) << kGeluWithIdleCode;
  const Ended ended = home.run({"judge", "--confirm", file});
  EXPECT_NE(ended.out.find("accepted: correct"), std::string::npos) << ended.out << ended.err;
  EXPECT_NE(ended.out.find("Not seen to run: all of line 7."), std::string::npos) << ended.out << ended.err;
}

TEST(JudgeCommand, AControlIsTimedAgainstItself) {
  const Home home;
  const Ended ended = home.run({"--json", "judge", "--control", shipped_file("gelu_f32/float4_items.cu")});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const Json timed = lines_of(ended.out).at(0).at("measurement");
  // It wins clearly against naive; against itself it ties.
  EXPECT_GT(timed.at("speed_up").at(0), 0.7);
  EXPECT_LT(timed.at("speed_up").at(0), 1.4);
  EXPECT_EQ(home.run({"judge", "--control", "--confirm", shipped_file("gelu_f32/float4_items.cu")}).exit_code, 64);
}

constexpr const char* kRowSumInHip = R"(/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "hip"],
  "launches": [{"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "N"]}]
}
*/
#include <hip/hip_runtime.h>

extern "C" __global__ void row_sum(const float* x, float* y, int N) {
  __shared__ float sums[64];
  float sum = 0.0f;
  for (int n = threadIdx.x; n < N; n += 64) sum += x[(size_t)blockIdx.x * N + n];
  for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = warpSize == 64 ? sum : sum + sums[32];
}
)";

TEST(JudgeCommand, AHipSolutionIsJudgedInItsDialectAndRecordedApart) {
  const Home home;
  const std::string file = (home.folder() / "row_sum.cu").string();
  std::ofstream(file) << kRowSumInHip;
  EXPECT_EQ(home.run({"check", file}).exit_code, 0);
  for (const std::vector<std::string>& how : {std::vector<std::string>{}, {"--dialect", "hip32"}}) {
    std::vector<std::string> args{"--json", "judge", "--screen", file};
    args.insert(args.end(), how.begin(), how.end());
    const Ended ended = home.run(args);
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  }
  const std::string both = shipped_file("gelu_f32/float4_items.cu");
  EXPECT_EQ(home.run({"judge", "--screen", both}).exit_code, 0);
  EXPECT_EQ(home.run({"judge", "--screen", both, "--device", "cpu-hip"}).exit_code, 0);
  const Ended devices = home.run({"--json", "query", "SELECT DISTINCT device FROM attempts ORDER BY 1"});
  EXPECT_EQ(devices.exit_code, 0) << devices.err;
  for (const char* device : {"\"cpu\"", "\"cpu-hip\"", "\"cpu-hip32\""}) {
    EXPECT_NE(devices.out.find(device), std::string::npos) << devices.out;
  }
  const Ended as_cuda = home.run({"judge", "--screen", file, "--dialect", "cuda"});
  EXPECT_EQ(as_cuda.exit_code, 1);
  EXPECT_NE(as_cuda.err.find("it is HIP and not CUDA"), std::string::npos) << as_cuda.err;
  EXPECT_EQ(home.run({"judge", both, "--device", "cuda", "--dialect", "hip"}).exit_code, 64);
  EXPECT_EQ(home.run({"judge", both, "--dialect", "ptx"}).exit_code, 1);
  EXPECT_EQ(home.run({"selftest", "--device", "cpu-hip"}).exit_code, 64);
}

TEST(JudgeCommand, AProfileNeedsAGpu) {
  const Home home;
  const Ended ended = home.run({"judge", "--profile", shipped_file("gelu_f32/float4_items.cu")});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.err.find("there is no profiler for cpu"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("ncu of the CUDA Toolkit"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace agent::cli::commands
