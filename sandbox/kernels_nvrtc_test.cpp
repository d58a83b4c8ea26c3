// With the CUDA Toolkit: NVRTC compiles every shipped kernel for those of sm_80, sm_90 and sm_100 that can run it.
// Where it ran on a GPU (sm_90, or its own architecture), its default point spills no registers; for the others it is
// optimised less, which takes a third of the time. Another point compiles for sm_90. (shipped_kernels_test.cpp checks
// the plans without it.)
#ifdef KW_HAVE_NVRTC
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/paths.h"
#include "core/text.h"
#include "sandbox/cuda/compiler/compiler.h"
#include "sandbox/cuda/driver/leaks_fixture.h"
#include "sandbox/shipped_kernels_fixture.h"

namespace sandbox::test {
namespace {

// Compiles like the compile worker of the cuda device, but in this process.
Compilation compile_for(const std::string& architecture, const Solution& solution, const TunableBinding& binding,
                        bool optimised) {
  static const cuda::compiler::Nvrtc nvrtc = cuda::compiler::Nvrtc::open(KW_CUDA_HOME);
  cuda::compiler::CompilerSettings settings{architecture,
                                            core::read_file(core::installed_paths().device_headers() / "kw_prelude.h")};
  if (!optimised && nvrtc.version() >= std::pair(13, 0)) settings.more_options = {"--Ofast-compile=mid"};
  return cuda::compiler::compile({solution.file, solution.source, Macros(binding.begin(), binding.end()), Build::fast},
                                 settings, nvrtc);
}

// From the least one on that the solution names. What belongs to one architecture ("sm_90a") runs on no other.
std::vector<std::string> architectures_of(const Solution& solution) {
  if (solution.arch.ends_with('a')) return {solution.arch};
  if (solution.arch.starts_with("sm_9")) return {"sm_90", "sm_100"};
  return {"sm_80", "sm_90", "sm_100"};
}

// Nothing, but for two naive solutions and references, and a register or two.
int64_t most_spilled(const ShippedKernel& kernel) {
  static const std::map<std::string, int64_t> known{
      {"attention_f16_naive", 1400},        {"batched_gemm_bf16_persistent_wgmma", 8},
      {"grouped_gemm_bf16_reference", 16},  {"linear_attention_bf16_reference", 440},
      {"permute_f16_packs_of_rows", 8},     {"quantize_i8_thread_per_row", 104},
      {"silu_mul_bf16_packs_of_eight", 64}, {"sort_pairs_i32_block_radix", 48},
      {"topk_f32_cluster_maxima", 32},      {"varlen_attention_bf16_naive", 1192}};
  const auto found = known.find(kernel.name);
  return found == known.end() ? 0 : found->second;
}

class NvrtcCompiles : public testing::TestWithParam<ShippedKernel> {};

TEST_P(NvrtcCompiles, TheDefaultPointWithoutSpills) {
  const Solution solution = load_solution(GetParam().file);
  for (const std::string& architecture : architectures_of(solution)) {
    const bool optimised = architecture == "sm_90" || architecture.ends_with('a');
    const Compilation compilation = compile_for(architecture, solution, default_binding(solution), optimised);
    const auto* built = std::get_if<Built>(&compilation);
    if (!optimised &&
        built == nullptr) {  // it compiles; our inspection may refuse calls and stack that it has not else
      const auto& rejected = std::get<Rejected>(compilation);
      ASSERT_EQ(rejected.reason, Rejection::forbidden) << architecture << ": " << rejected.message << rejected.log;
      continue;
    }
    ASSERT_NE(built, nullptr) << architecture << ": " << std::get<Rejected>(compilation).log;
    EXPECT_GT(built->registers.value_or(0), 0) << architecture;
    if (optimised) {
      EXPECT_LE(built->spill_bytes, most_spilled(GetParam())) << architecture;
    }
    for (const Launch& launch : solution.launches) {
      ASSERT_EQ(built->kernels.count(launch.kernel), 1u) << launch.kernel;
      EXPECT_EQ(built->kernels.at(launch.kernel), static_cast<int64_t>(launch.args.size()));
    }
  }
}

TEST_P(NvrtcCompiles, AnotherPoint) {
  const Solution solution = load_solution(GetParam().file);
  const TunableBinding point = another_point(GetParam(), solution);
  if (point == default_binding(solution)) return;  // it has one
  const std::string architecture = solution.arch.ends_with('a') ? solution.arch : "sm_90";
  const Compilation compilation = compile_for(architecture, solution, point, true);
  EXPECT_TRUE(std::holds_alternative<Built>(compilation))
      << describe(point) << ": " << std::get<Rejected>(compilation).log;
}

INSTANTIATE_TEST_SUITE_P(All, NvrtcCompiles, testing::ValuesIn(shipped_kernels_for("cuda")),
                         [](const auto& kernel) { return kernel.param.name; });

}  // namespace
}  // namespace sandbox::test
#endif
