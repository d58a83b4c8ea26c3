// The examples shown to models are right: parses, validates, compiles and runs the solutions of
// prompts/solution_format.md and of the technique cards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "agent/campaign/program_fixture.h"
#include "agent/prompting/cards.h"
#include "agent/prompting/prompting_fixture.h"
#include "agent/prompting/reply.h"
#include "sandbox/cpu/test_device_fixture.h"
#ifdef KW_HAVE_NVRTC
#include "sandbox/cuda/compiler/compiler.h"
#endif
#ifdef KW_HAVE_HIPRTC
#include "sandbox/hip/compiler/hiprtc_fixture.h"
#endif

namespace agent::campaign {
namespace {
using testing::Contains;

constexpr const char* kRowMax = R"({
  "name": "row_max_f32", "title": "Largest of each row", "description": "y[m] = max_n x[m, n]",
  "axes": {"M": {"description": "rows", "min": 1, "max": 65536},
           "N": {"description": "columns", "min": 1, "max": 65536}},
  "inputs": {"x": {"dtype": "f32", "shape": ["M", "N"], "init": {"kind": "normal", "scale": 1}}},
  "outputs": {"y": {"dtype": "f32", "shape": ["M"]}},
  "contract": {"accumulate": "f32"},
  "cost": {"flops": "M * N", "bytes_read": "4 * M * N", "bytes_written": "4 * M"},
  "workloads": [{"name": "test_7x13", "role": "test", "axes": {"M": 7, "N": 13}},
                {"name": "bench_64x64", "role": "bench", "axes": {"M": 64, "N": 64}}]
})";

// Runs row_max on the cpu device and compares.
void expect_row_maxima(const sandbox::Solution& solution, int rows, int columns) {
  const sandbox::TunableBinding point = sandbox::default_binding(solution);
  const sandbox::LaunchPlan plan = sandbox::bind_plan(solution, point, {{"M", rows}, {"N", columns}});
  sandbox::cpu::test::Device device(solution.source, sandbox::Build::check, {point.begin(), point.end()});
  float* x = device.add_floats("x", static_cast<size_t>(rows * columns));
  for (int i = 0; i < rows * columns; ++i) x[i] = static_cast<float>(i * 37 % 101) - 50;
  const float* y = device.add_floats("y", static_cast<size_t>(rows));
  device.add_argument(rows);
  device.add_argument(columns);
  const auto fault = device.launch("row_max", plan.launches[0].grid, plan.launches[0].block);
  ASSERT_FALSE(fault) << fault->describe();
  for (int m = 0; m < rows; ++m) EXPECT_EQ(y[m], *std::max_element(x + m * columns, x + (m + 1) * columns)) << m;
}

TEST(Fragments, TheExampleOfTheFormatIsASolution) {
  const benchsuite::Problem problem = benchsuite::parse_problem(kRowMax, "row_max.json");
  // Read as a reply, the documented form yields its solution; the edit beside it names no known parent.
  const std::string text = core::read_file(core::installed_paths().prompts() / "solution_format.md");
  const prompting::Reply reply = prompting::read_reply(text, {&problem, "cpu", {}, true});
  ASSERT_EQ(reply.proposals.size(), 1u) << testing::PrintToString(reply.reasons);
  EXPECT_EQ(reply.reasons.size(), 1u);
  expect_row_maxima(reply.proposals[0].solution, 7, 13);
  expect_row_maxima(reply.proposals[0].solution, 5, 64);
}

bool runs_on(const sandbox::Solution& solution, const std::string& backend) {
  return std::find(solution.backends.begin(), solution.backends.end(), backend) != solution.backends.end();
}

struct Fragment {
  prompting::Card card;
  sandbox::Solution solution;
};
const std::vector<Fragment>& fragments() {
  static const std::vector<Fragment> all = [] {
    std::vector<Fragment> parsed;
    for (prompting::Card& card : prompting::load_cards(core::installed_paths().prompts() / "techniques")) {
      sandbox::Solution solution = sandbox::parse_solution(card.fragment, card.name);
      parsed.push_back({std::move(card), std::move(solution)});
    }
    return parsed;
  }();
  return all;
}

TEST(Fragments, OfCardsAreSolutionsOfShippedProblems) {
  ASSERT_GE(fragments().size(), 20u);
  for (const auto& [card, solution] : fragments()) {
    const benchsuite::Problem& problem = prompting::test::shipped_problem(solution.problem);
    EXPECT_NO_THROW(sandbox::validate_solution(solution, problem)) << card.name;
    EXPECT_EQ(solution.arch, card.arch) << card.name;
    for (const std::string& backend : card.backends) EXPECT_THAT(solution.backends, Contains(backend)) << card.name;
    const std::set<std::string> traits = prompting::traits_of(prompting::read_problem_text(problem));
    EXPECT_TRUE(card.traits.empty() ||
                std::any_of(traits.begin(), traits.end(),
                            [&wanted = card.traits](const std::string& trait) { return wanted.count(trait) > 0; }))
        << card.name;
  }
}

// Judges what says cpu and `backend` on the cpu device, in one of its languages.
void expect_correct_fragments(const std::string& dialect, const std::string& backend, size_t at_least) {
  const test::Home home;
  std::vector<std::string> args{"--json", "judge", "--screen", "--dialect", dialect};
  const size_t options = args.size();
  for (const auto& [card, solution] : fragments()) {
    if (!runs_on(solution, "cpu") || !runs_on(solution, backend)) continue;
    if (dialect == "cuda" && runs_on(solution, "hip") && !runs_on(solution, "cuda")) continue;  // it is HIP
    args.push_back((home.folder() / (card.name + ".cu")).string());
    std::ofstream(args.back()) << card.fragment;
  }
  ASSERT_GE(args.size(), options + at_least);
  const test::Ended ended = home.run(args);
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'), static_cast<std::ptrdiff_t>(args.size() - options));
}

TEST(Fragments, OfCardsAreCorrectOnTheCpuDevice) { expect_correct_fragments("cuda", "cpu", 15); }

TEST(Fragments, OfCardsForAmdAreCorrectWithWavefrontsOfEitherSize) {
  expect_correct_fragments("hip", "hip", 9);
  expect_correct_fragments("hip32", "hip", 9);
}

#ifdef KW_HAVE_NVRTC
TEST(Fragments, OfCardsCompileForTheirLeastArchitectureWithoutSpills) {
  const sandbox::cuda::compiler::Nvrtc nvrtc = sandbox::cuda::compiler::Nvrtc::open(KW_CUDA_HOME);
  const std::string prelude = core::read_file(core::installed_paths().device_headers() / "kw_prelude.h");
  for (const auto& [card, solution] : fragments()) {
    if (!runs_on(solution, "cuda")) continue;
    const sandbox::TunableBinding point = sandbox::default_binding(solution);
    const sandbox::Compilation compilation = sandbox::cuda::compiler::compile(
        {card.name, solution.source, {point.begin(), point.end()}, sandbox::Build::fast},
        {card.arch.empty() ? "sm_80" : card.arch, prelude}, nvrtc);
    const auto* built = std::get_if<sandbox::Built>(&compilation);
    ASSERT_NE(built, nullptr) << card.name << ": " << std::get<sandbox::Rejected>(compilation).log;
    EXPECT_EQ(built->spill_bytes, 0) << card.name;
    for (const sandbox::Launch& launch : solution.launches) {
      EXPECT_EQ(built->kernels.at(launch.kernel), static_cast<int64_t>(launch.args.size())) << card.name;
    }
  }
}
#endif

#ifdef KW_HAVE_HIPRTC
TEST(Fragments, OfCardsCompileForAmdGpus) {
  const sandbox::gpu::RuntimeCompiler hiprtc = sandbox::hip::compiler::open_hiprtc();
  const core::Paths paths = core::installed_paths();
  for (const auto& [card, solution] : fragments()) {
    if (!runs_on(solution, "hip")) continue;
    const sandbox::TunableBinding point = sandbox::default_binding(solution);
    for (const char* architecture : {"gfx90a", "gfx1030"}) {
      const sandbox::Compilation compilation = sandbox::hip::compiler::compile(
          {card.name, solution.source, {point.begin(), point.end()}, sandbox::Build::fast},
          {architecture, paths.device_headers(), paths.hip_headers()}, hiprtc, sandbox::hip::compiler::test::comgr());
      EXPECT_TRUE(std::holds_alternative<sandbox::Built>(compilation))
          << card.name << " for " << architecture << ": " << std::get<sandbox::Rejected>(compilation).log;
    }
  }
}
#endif

}  // namespace
}  // namespace agent::campaign
