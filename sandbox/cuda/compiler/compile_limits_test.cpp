// Sources made to keep a compile worker busy or to fill the memory. Needs the CUDA Toolkit, but no GPU.
#ifdef KW_HAVE_NVRTC
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/paths.h"
#include "sandbox/compile_pool.h"

namespace sandbox::cuda::compiler {
namespace {
using testing::HasSubstr;

class CompileLimits : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const core::Paths paths = core::installed_paths();
    pool_ = std::make_unique<CompilePool>(
        process::WorkerCommand{paths.worker("cuda"),
                               {"--device-headers", paths.device_headers().string(), "--cuda-home", KW_CUDA_HOME,
                                "--arch", "sm_90", "--deadline", "2", "--memory-mib", "600"},
                               {}},
        1);
  }
  static void TearDownTestSuite() { pool_.reset(); }

  static std::string outcome(const std::string& source) {
    const Compilation compilation = pool_->submit({"solution.cu", source, {}, Build::fast}).get();
    const auto* rejected = std::get_if<Rejected>(&compilation);
    return rejected == nullptr ? "built" : std::string(name_of(rejected->reason)) + ": " + rejected->message;
  }
  // The next candidate compiles, whatever came before.
  void TearDown() override { EXPECT_EQ(outcome("extern \"C\" __global__ void k(int* x) { *x = 1; }"), "built"); }

  static std::unique_ptr<CompilePool> pool_;
};
std::unique_ptr<CompilePool> CompileLimits::pool_;

std::string doubling_macros(int depth) {
  std::string text = "#define A0 x[0] += 1;\n";
  for (int i = 1; i <= depth; ++i) {
    const std::string before = " A" + std::to_string(i - 1);
    text += "#define A" + std::to_string(i) + before + before + "\n";
  }
  return text + "extern \"C\" __global__ void k(int* x) { A" + std::to_string(depth) + " }\n";
}

TEST_F(CompileLimits, MacroBomb) { EXPECT_THAT(outcome(doubling_macros(40)), HasSubstr("limit: ")); }

TEST_F(CompileLimits, TemplateBomb) {
  const std::string bomb = R"(
template <int depth, unsigned long long path> struct Tree {
  static constexpr unsigned long long value =
      Tree<depth - 1, path * 2>::value + Tree<depth - 1, path * 2 + 1>::value;
};
template <unsigned long long path> struct Tree<0, path> { static constexpr unsigned long long value = path; };
extern "C" __global__ void k(unsigned long long* x) { *x = Tree<40, 1>::value; }
)";
  for (int i = 0; i < 2; ++i) EXPECT_THAT(outcome(bomb), HasSubstr("limit: "));
}

}  // namespace
}  // namespace sandbox::cuda::compiler
#endif
