// Where the CUDA Toolkit is present: NVRTC compiles every shipped kernel for sm_80, sm_90 and sm_100, and the default
// point of none spills registers. (Elsewhere shipped_kernels_test.cpp still checks the plans.)
#ifdef KW_HAVE_NVRTC
#include <gtest/gtest.h>
#include <nvrtc.h>

#include "core/paths.h"
#include "core/text.h"
#include "sandbox/shipped_kernels.h"

namespace sandbox::test {
namespace {

struct NvrtcResult {
  bool built = false;
  std::string log;
};

NvrtcResult compile_with_nvrtc(const Solution& solution, const TunableBinding& binding, const std::string& arch) {
  std::vector<std::string> options{"-arch=" + arch, "-std=c++17", "--ptxas-options=-v"};
  for (const auto& [name, value] : binding) options.push_back("-D" + name + "=" + std::to_string(value));
  for (const std::string& folder : core::split(KW_CUDA_INCLUDE, ':')) options.push_back("-I" + folder);
  // The names that every device predefines.
  options.push_back("--pre-include=kw_prelude.h");
  const std::string prelude = core::read_file(core::installed_paths().device_headers() / "kw_prelude.h");
  const char* const header_text = prelude.c_str();
  const char* const header_name = "kw_prelude.h";
  std::vector<const char*> arguments;
  for (const std::string& option : options) arguments.push_back(option.c_str());

  nvrtcProgram program{};
  EXPECT_EQ(nvrtcCreateProgram(&program, solution.source.c_str(), "solution.cu", 1, &header_text, &header_name),
            NVRTC_SUCCESS);
  NvrtcResult result;
  result.built = nvrtcCompileProgram(program, static_cast<int>(arguments.size()), arguments.data()) == NVRTC_SUCCESS;
  size_t bytes = 0;
  EXPECT_EQ(nvrtcGetProgramLogSize(program, &bytes), NVRTC_SUCCESS);
  result.log.resize(bytes);
  EXPECT_EQ(nvrtcGetProgramLog(program, result.log.data()), NVRTC_SUCCESS);
  EXPECT_EQ(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
  return result;
}

// "4 bytes spill stores" says so, "0 bytes spill stores" does not.
bool spills(const std::string& log) {
  const std::string words = " bytes spill";
  for (size_t at = log.find(words); at != std::string::npos; at = log.find(words, at + 1)) {
    const size_t number = log.find_last_not_of("0123456789", at - 1) + 1;
    if (log.substr(number, at - number) != "0") return true;
  }
  return false;
}

class NvrtcCompiles : public testing::TestWithParam<ShippedKernel> {};

TEST_P(NvrtcCompiles, TheDefaultPointWithoutSpills) {
  const Solution solution = load_solution(GetParam().file);
  for (const char* arch : {"sm_80", "sm_90", "sm_100"}) {
    const NvrtcResult result = compile_with_nvrtc(solution, default_binding(solution), arch);
    EXPECT_TRUE(result.built) << arch << ": " << result.log;
    EXPECT_NE(result.log.find("registers"), std::string::npos) << "ptxas must say what it used: " << result.log;
    EXPECT_FALSE(spills(result.log)) << arch << ": " << result.log;
  }
}

TEST_P(NvrtcCompiles, AnotherPoint) {
  const Solution solution = load_solution(GetParam().file);
  const TunableBinding point = another_point(GetParam(), solution);
  for (const char* arch : {"sm_80", "sm_90", "sm_100"}) {
    const NvrtcResult result = compile_with_nvrtc(solution, point, arch);
    EXPECT_TRUE(result.built) << arch << " " << describe(point) << ": " << result.log;
  }
}

TEST(NvrtcLog, SpillsAreSeen) {
  EXPECT_TRUE(spills("8 bytes stack frame, 4 bytes spill stores, 44 bytes spill loads"));
  EXPECT_FALSE(spills("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"));
}

INSTANTIATE_TEST_SUITE_P(All, NvrtcCompiles, testing::ValuesIn(shipped_kernels()),
                         [](const auto& kernel) { return kernel.param.name; });

}  // namespace
}  // namespace sandbox::test
#endif
