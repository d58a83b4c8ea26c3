// The hip device without a GPU: real workers and hiprtc, and a HIP runtime that executes host builds of the kernels.
#ifdef KW_HAVE_HIPRTC
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/campaign/devices.h"
#include "agent/campaign/test_hip_fixture.h"
#include "core/error.h"
#include "sandbox/compile_pool.h"
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
  explicit HipBench(const std::string& fault = "")
      : host_(fault),
        judge_(judged_device(host_.paths(), benchsuite::Backend::hip, 0), quick()),
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

}  // namespace
}  // namespace agent::campaign
#endif
