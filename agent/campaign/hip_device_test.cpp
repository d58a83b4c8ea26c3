// The hip device without a GPU: real workers and hiprtc, and a HIP runtime that executes host builds of the kernels.
#ifdef KW_HAVE_HIPRTC
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "agent/campaign/baselines.h"
#include "agent/campaign/calibrations.h"
#include "agent/campaign/campaign.h"
#include "agent/campaign/devices.h"
#include "agent/campaign/live_runner.h"
#include "agent/campaign/startup.h"
#include "agent/campaign/test_hip_fixture.h"
#include "core/error.h"
#include "results/archive/archive_fixture.h"
#include "sandbox/compile_pool.h"
#include "sandbox/process/turns.h"
#include "verifier/adversarial/adversarial_case.h"
#include "verifier/judging/judge.h"

namespace agent::campaign {
namespace {
using testing::HasSubstr;
using verifier::verdicts::Effort;
using verifier::verdicts::Judgement;

constexpr const char* kArchitecture = "gfx90a";

verifier::judging::JudgeSettings quick() {
  verifier::judging::JudgeSettings settings;
  settings.check.launch_deadline_s = 20;
  settings.timing.most_s = 0.5;
  return settings;
}

// A judge on a test device, with a compiler for it.
class HipBench {
 public:
  explicit HipBench(const std::string& fault = "", const verifier::judging::JudgeSettings& settings = quick())
      : host_(fault),
        judge_(judged_device(host_.paths(), benchsuite::Backend::hip, 0), settings),
        pool_(hip_compile_worker(host_.paths(), kArchitecture), 1) {}

  void use(const std::string& problem, const core::Json& axes) {
    judge_.use_problem(host_.small(problem, axes), pool_);
  }
  Judgement judge(const sandbox::Solution& solution, Effort effort) {
    verifier::judging::Builds builds(solution, sandbox::default_binding(solution));
    if (const sandbox::Rejected* rejected = builds.wait(pool_, effort)) {
      return {verifier::verdicts::CompileFailed{rejected->reason, rejected->message, rejected->line}, {}, {}, 0};
    }
    return judge_.judge(builds, judge_.naive(), effort);
  }
  verifier::judging::Judge& judge() { return judge_; }
  // Those of another process at the same device.
  sandbox::process::Turns turns() {
    const verifier::judging::JudgedDevice device = judged_device(host_.paths(), benchsuite::Backend::hip, 0);
    return sandbox::process::Turns(
        sandbox::process::file_of_turns(device.turns_in, judge_.greeting().at("uuid").get<std::string>()));
  }

 private:
  test::TestHip host_;
  verifier::judging::Judge judge_;
  sandbox::CompilePool pool_;
};

sandbox::Solution shipped_kernel(const std::string& file) {
  return sandbox::load_solution(core::installed_paths().kernels() / file);
}

// vector_add whose one line is given.
sandbox::Solution adds(const std::string& line) {
  return sandbox::parse_solution(R"x(/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["hip"],
  "launches": [{"kernel": "add", "grid": ["ceil_div(N, 256)"], "block": [256], "args": ["a", "b", "y", "N"]}]
}
*/
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  )x" + line + "\n}\n",
                                 "test.cu");
}

std::string said(const Judgement& judgement) {
  return std::string(name_of(judgement.verdict)) + ": " + verifier::verdicts::sentence_for_people(judgement.verdict);
}

TEST(HipDevice, JudgesAKernelFromSourceToTime) {
  HipBench bench;
  bench.use("vector_add_f32", {{"N", 65536}});
  const Judgement good = bench.judge(shipped_kernel("vector_add_f32/float4_items.cu"), Effort::full);
  EXPECT_TRUE(verifier::verdicts::is_correct(good.verdict)) << said(good);
  ASSERT_TRUE(good.measurement);
  EXPECT_GT(good.measurement->speed_up.value, 0);
  EXPECT_EQ(bench.judge().greeting().at("architecture"), kArchitecture);

  EXPECT_THAT(said(bench.judge(adds("if (i < N) y[i] = a[i] - b[i];"), Effort::full)), HasSubstr("wrong"));
  EXPECT_THAT(said(bench.judge(adds("if (i < N && i > 0) y[i] = a[i] + b[i];"), Effort::full)),
              HasSubstr("not_written"));
  EXPECT_THAT(said(bench.judge(adds("if (i < N) const_cast<float*>(a)[i] = 0;"), Effort::full)),
              HasSubstr("out_of_bounds"));
  EXPECT_THAT(said(bench.judge(adds("if (i < N) y[i] = a[i] + b[i]; while (y[0] == y[0]) y[0] += 1;"), Effort::screen)),
              HasSubstr("timed_out"));
  const Judgement again = bench.judge(shipped_kernel("vector_add_f32/float4_items.cu"), Effort::screen);
  EXPECT_TRUE(verifier::verdicts::is_correct(again.verdict)) << "after workers were replaced: " << said(again);
}

TEST(HipDevice, JudgesBesideOthersAndTimesAlone) {
  using namespace std::chrono_literals;
  HipBench bench;
  bench.use("vector_add_f32", {{"N", 65536}});
  const sandbox::Solution solution = shipped_kernel("vector_add_f32/float4_items.cu");
  const sandbox::process::Turns others = bench.turns();
  {
    const auto turn = others.beside_others();
    EXPECT_THAT(said(bench.judge(adds("if (i < N) y[i] = a[i] - b[i];"), Effort::screen)), HasSubstr("wrong"));
  }
  auto turn = std::make_optional(others.alone());
  auto judged = std::async(std::launch::async, [&] { return bench.judge(solution, Effort::screen); });
  EXPECT_EQ(judged.wait_for(4s), std::future_status::timeout);
  turn.reset();
  EXPECT_TRUE(verifier::verdicts::is_correct(judged.get().verdict));
}

// A device that does not start is named with its call; what happens at a candidate's launch, the candidate is charged
// with.
TEST(HipDevice, FaultsOfTheDeviceAreNamed) {
  const auto why_no_judge = [](const std::string& fault) -> std::string {
    try {
      HipBench bench(fault);
      bench.use("vector_add_f32", {{"N", 4096}});
      return said(bench.judge(shipped_kernel("vector_add_f32/float4_items.cu"), Effort::screen));
    } catch (const std::exception& error) {
      return error.what();
    }
  };
  EXPECT_THAT(why_no_judge("no_device"), HasSubstr("finds no GPU"));
  EXPECT_THAT(why_no_judge("out_of_memory"), HasSubstr("out of memory"));
  EXPECT_THAT(why_no_judge("export_refused"), HasSubstr("hipMemExportToShareableHandle"));
  EXPECT_THAT(why_no_judge("illegal_address"), HasSubstr("out_of_bounds"));
  EXPECT_THAT(why_no_judge("lost_device"), HasSubstr("crashed"));
}

TEST(HipDevice, AHangingLaunchIsEnded) {
  verifier::judging::JudgeSettings settings = quick();
  settings.check.launch_deadline_s = 1;
  HipBench bench("hang", settings);
  bench.use("vector_add_f32", {{"N", 4096}});
  EXPECT_THAT(said(bench.judge(shipped_kernel("vector_add_f32/float4_items.cu"), Effort::screen)),
              HasSubstr("timed_out"));
}

TEST(HipDevice, IsMeasured) {
  const test::TestHip host;
  ASSERT_EQ(gpu_devices(host.paths(), benchsuite::Backend::hip).size(), 1u);
  results::archive::Recorder archive(host.home().archive());
  const verifier::verdicts::Calibration rates = calibrate(archive, host.paths(), {benchsuite::Backend::hip, 0, false});
  EXPECT_EQ(rates.device, "Test GPU");
  EXPECT_EQ(rates.architecture, kArchitecture);
  EXPECT_EQ(rates.driver, "6.2");
  EXPECT_EQ(rates.tensor_instruction, "mfma");
  EXPECT_GT(rates.dram_copy_gb_s, 0);
  EXPECT_TRUE(archive.newest_calibration("hip Test GPU"));
}

// Cases of the adversarial suite that hip refuses before anything runs, by the compile worker that users have.
TEST(HipDevice, CompilingRefusesTheCasesThatSaySo) {
  const core::Paths paths = core::installed_paths();
  sandbox::CompilePool pool(hip_compile_worker(paths, kArchitecture), 1);
  int judged = 0;
  for (const auto& one : verifier::adversarial::load_adversarial_cases(paths.adversarial(), 7)) {
    if (!one.runs_on("hip")) continue;
    const sandbox::Macros macros(one.binding.begin(), one.binding.end());
    const sandbox::Compilation compilation =
        pool.submit({one.solution.file, one.solution.source, macros, sandbox::Build::fast}).get();
    const auto* refused = std::get_if<sandbox::Rejected>(&compilation);
    EXPECT_THAT(one.verdicts.at("hip"), testing::Contains(refused ? std::string(name_of(refused->reason)) : "built"))
        << one.name << ": " << (refused ? refused->message : "");
    ++judged;
  }
  EXPECT_GE(judged, 10);
}

// As kernelwright run does it.
class Silent : public search::Progress {
 public:
  void campaign_started(const std::string&, size_t, const search::BudgetLeft&) override {}
  void problem_started(const std::string&, size_t, size_t) override {}
  void attempted(const search::AttemptReport&) override { ++attempts; }
  void answered(const search::ReplyReport&) override {}
  void problem_ended(const std::string&, double best, const std::string&) override { best_of_last = best; }
  void noted(const std::string&) override {}
  void warned(const std::string& what) override { warnings += what + "\n"; }

  int attempts = 0;
  double best_of_last = 0;
  std::string warnings;
};

TEST(HipDevice, RocblasIsABaseline) {
  const test::TestHip host;
  results::archive::Recorder archive(host.home().archive());
  archive.add_calibration("hip Test GPU", results::archive::test::calibration_of("Test GPU", 1e6));
  const benchsuite::Problem problem = host.small("gemm_f32", {{"M", 64}, {"N", 48}, {"K", 80}});
  std::vector<std::string> measured;
  const auto add = [&](const std::string&, const std::string& library, const std::string&, const Judgement& judgement) {
    measured.push_back(library + " " + said(judgement));
    EXPECT_TRUE(judgement.measurement) << library;
  };
  measure_baselines(archive, host.paths(), {benchsuite::Backend::hip, 0, false}, {&problem}, {},
                    WhichBaselines::missing, {add, [](const std::string&) {}});
  ASSERT_FALSE(measured.empty());
  EXPECT_THAT(measured[0], testing::StartsWith("rocBLAS 5.1 correct"));
}

// A campaign on all GPUs of the host, and what became of it.
class HipCampaign {
 public:
  HipCampaign(const std::string& fault, const std::vector<std::pair<std::string, core::Json>>& problems,
              int64_t attempts)
      : host_(fault), data_{host_.paths(), {}} {
    CampaignSettings settings;
    for (const auto& [name, axes] : problems) {
      data_.catalogue.problems.emplace(name, host_.small(name, axes));
      settings.problems.push_back(name);
    }
    archive_.emplace(open_seeded_archive(host_.home().archive(), data_));
    verifier::verdicts::Calibration calibration = results::archive::test::calibration_of("Test GPU", 1e6);
    calibration.launch_floor_us = 1e-3;  // a host's thread has no floor that a card has
    archive_->add_calibration("hip Test GPU", calibration);
    for (const auto& [name, axes] : problems) {
      const sandbox::Solution solution = shipped_kernel(name + "/lanes_per_row.cu");
      archive_->add_solution({&solution, "lanes_per_row", "user", {}});
      settings.solutions.push_back(solution.hash());
    }
    settings.device = "hip:all";
    settings.budget.attempts = attempts;
    settings.seed = 7;
    const auto campaign = archive_->start_campaign(to_json(settings), archive_->add_environment({{"device", "hip"}}));
    end = run_campaign(*archive_, campaign, data_.paths, data_.catalogue.problems, progress);
    for (const int64_t id : archive_->attempts_of_campaign(campaign.id)) made.push_back(archive_->attempt(id));
    for (const auto& event : archive_->events_of_campaign(campaign.id)) events.push_back(event.kind);
  }

  Silent progress;
  CampaignEnd end;
  std::vector<results::archive::RecordedAttempt> made;
  std::vector<std::string> events;

  int64_t correct() const {
    return std::ranges::count_if(made, [](const auto& one) { return verifier::verdicts::is_correct(one.verdict); });
  }

 private:
  test::TestHip host_;
  LoadedData data_;
  std::optional<results::archive::Recorder> archive_;
};

// The device sees that sums are wrong, the cpu device which line is the reason.
TEST(HipDevice, AWrongResultIsExplainedByTheCpuDevice) {
  const test::TestHip host;
  LoadedData data{host.paths(), {}};
  data.catalogue.problems.emplace("row_sum_f32", host.small("row_sum_f32", {{"M", 64}, {"N", 512}}));
  results::archive::Recorder archive = open_seeded_archive(host.home().archive(), data);
  DeviceSession session(host.paths(), parse_device("hip"), quick(), 1);
  LiveRunner runner(archive, session, std::nullopt, std::nullopt);
  runner.look_closer(LiveRunner::Profiled::nothing);
  runner.use_problem(data.catalogue.problems.at("row_sum_f32"));
  const sandbox::Solution solution = sandbox::parse_solution(R"x(/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["hip"],
  "launches": [{"kernel": "sums", "grid": ["M"], "block": [64], "args": ["x", "y", "N"]}]
}
*/
extern "C" __global__ void sums(const float* x, float* y, int N) {
  __shared__ float parts[64];
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) sum += x[(size_t)blockIdx.x * N + n];
  parts[threadIdx.x] = sum;
  if (threadIdx.x > 0) return;
  for (int i = 1; i < 64; ++i) sum += parts[i];
  y[blockIdx.x] = sum;
}
)x",
                                                             "test.cu");
  const search::Attempt attempt = runner.make(runner.add(solution, "sums", "user", {}), runner.naive(), Effort::full);
  const std::string sentence = verifier::verdicts::sentence_for_people(attempt.verdict);
  EXPECT_THAT(sentence, HasSubstr("parts")) << name_of(attempt.verdict);
  EXPECT_THAT(sentence, HasSubstr("line 14"));
  EXPECT_THAT(sentence, HasSubstr("seen on the cpu device; on the GPU: "));
}

TEST(HipDevice, ACampaignRunsOnIt) {
  const HipCampaign campaign("", {{"row_sum_f32", {{"M", 64}, {"N", 512}}}}, 6);
  EXPECT_FALSE(campaign.end.interrupted);
  EXPECT_GE(campaign.end.attempts, 6);
  EXPECT_EQ(campaign.progress.warnings, "");
  for (const auto& attempt : campaign.made) EXPECT_EQ(attempt.device, "hip Test GPU");
  EXPECT_GE(campaign.correct(), 4);
}

// A suite of its own, since a process has one HIP runtime.
TEST(TwoHipDevices, SearchTwoProblemsSideBySide) {
  const core::Json axes{{"M", 64}, {"N", 512}};
  const HipCampaign campaign("two_devices", {{"row_sum_f32", axes}, {"softmax_f32", axes}}, 12);
  EXPECT_FALSE(campaign.end.interrupted);
  EXPECT_GE(campaign.correct(), 8);
  using testing::ElementsAre;
  EXPECT_THAT(campaign.events, ElementsAre("problem_started", "problem_started", "problem_ended", "problem_ended"));
}

}  // namespace
}  // namespace agent::campaign
#endif
