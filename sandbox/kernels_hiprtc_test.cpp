// With ROCm's hiprtc: every reference, naive solution and shipped kernel that says "hip" compiles for AMD GPUs and
// passes inspection; one default point alone spills registers on gfx90a.
#ifdef KW_HAVE_HIPRTC
#include <gtest/gtest.h>

#include <algorithm>

#include "sandbox/hip/compiler/hiprtc_fixture.h"
#include "sandbox/shipped_kernels_fixture.h"

namespace sandbox::test {
namespace {

Compilation compile_for_amd(const std::string& architecture, const Solution& solution, const TunableBinding& binding) {
  static const gpu::RuntimeCompiler hiprtc = hip::compiler::open_hiprtc();
  const core::Paths paths = core::installed_paths();
  return hip::compiler::compile({solution.file, solution.source, Macros(binding.begin(), binding.end()), Build::fast},
                                {architecture, paths.device_headers(), paths.hip_headers()}, hiprtc,
                                hip::compiler::test::comgr());
}

// ROCm 5.2.3 keeps 296 bytes of its 8 x 8 sums in scratch memory.
bool spills_on_gfx90a(const ShippedKernel& kernel) { return kernel.name == "gemm_f16_register_tile"; }

class HiprtcCompiles : public testing::TestWithParam<ShippedKernel> {};

// Bytes that the default point spills.
int64_t spills_of_default_point(const Solution& solution, const std::string& architecture) {
  const Compilation compilation = compile_for_amd(architecture, solution, default_binding(solution));
  const auto* built = std::get_if<Built>(&compilation);
  if (built == nullptr) {
    ADD_FAILURE() << std::get<Rejected>(compilation).message << "\n" << std::get<Rejected>(compilation).log;
    return 0;
  }
  for (const Launch& launch : solution.launches) {
    const auto kernel = built->kernels.find(launch.kernel);
    EXPECT_EQ(kernel == built->kernels.end() ? -1 : kernel->second, static_cast<int64_t>(launch.args.size()))
        << launch.kernel;
  }
  return built->spill_bytes.value_or(0);
}

TEST_P(HiprtcCompiles, TheDefaultPointWithoutSpills) {
  const Solution solution = load_solution(GetParam().file);
  const int64_t spills = spills_of_default_point(solution, "gfx90a");
  EXPECT_LE(solution.tunables.empty() ? 0 : spills, spills_on_gfx90a(GetParam()) ? 512 : 0);
}

// It has half the registers.
TEST_P(HiprtcCompiles, ForWavesOf32Lanes) { spills_of_default_point(load_solution(GetParam().file), "gfx1030"); }

INSTANTIATE_TEST_SUITE_P(All, HiprtcCompiles, testing::ValuesIn(shipped_kernels_for("hip")),
                         [](const auto& kernel) { return kernel.param.name; });

}  // namespace
}  // namespace sandbox::test
#endif
