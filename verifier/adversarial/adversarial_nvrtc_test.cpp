// With the CUDA Toolkit: compiles every file of the adversarial suite for GPUs in a compile worker. Each one is refused
// as it declares, or compiles.
#ifdef KW_HAVE_NVRTC
#include <gtest/gtest.h>

#include <algorithm>

#include "core/paths.h"
#include "sandbox/compile_pool.h"
#include "verifier/adversarial/adversarial_case.h"

namespace verifier::adversarial {
namespace {

// The first point of each file or family, except files that exhaust the compiler.
std::vector<AdversarialCase> compiled_cases() {
  std::vector<AdversarialCase> chosen;
  for (AdversarialCase& one : load_adversarial_cases(core::installed_paths().adversarial(), 1)) {
    const bool seen = !chosen.empty() && chosen.back().solution.file == one.solution.file;
    if (one.runs_on("cuda") && !one.slow && !seen) chosen.push_back(std::move(one));
  }
  return chosen;
}

bool is_rejection(const std::string& verdict) { return core::enum_from_name<sandbox::Rejection>(verdict).has_value(); }

TEST(SuiteWithNvrtc, GpuCasesCompileOrAreRefusedAsDeclared) {
  const core::Paths paths = core::installed_paths();
  sandbox::CompilePool pool(
      {paths.worker("cuda"),
       {"--device-headers", paths.device_headers().string(), "--arch", "sm_90", "--cuda-home", KW_CUDA_HOME},
       {}},
      2);
  const std::vector<AdversarialCase> cases = compiled_cases();
  ASSERT_GE(cases.size(), 90u);
  std::vector<std::future<sandbox::Compilation>> compiled;
  for (const AdversarialCase& one : cases) {
    compiled.push_back(
        pool.submit({one.name, one.solution.source, {one.binding.begin(), one.binding.end()}, sandbox::Build::fast}));
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::vector<std::string>& wanted = cases[i].verdicts.at("cuda");
    const sandbox::Compilation compilation = compiled[i].get();
    if (const auto* rejected = std::get_if<sandbox::Rejected>(&compilation)) {
      EXPECT_NE(std::find(wanted.begin(), wanted.end(), sandbox::name_of(rejected->reason)), wanted.end())
          << cases[i].name << " is " << sandbox::name_of(rejected->reason) << ": " << rejected->message << "\n"
          << rejected->log;
    } else {
      EXPECT_FALSE(std::all_of(wanted.begin(), wanted.end(), is_rejection)) << cases[i].name << " compiles";
    }
  }
}

}  // namespace
}  // namespace verifier::adversarial
#endif
