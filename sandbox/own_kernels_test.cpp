// Binaries of our own device code are kept from one process to the next. Needs the CUDA Toolkit, but no GPU.
#ifdef KW_HAVE_NVRTC
#include "sandbox/own_kernels.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "core/paths.h"
#include "core/text.h"
#include "sandbox/cpu/test_device_fixture.h"
#include "sandbox/process/sealed_memory.h"

namespace sandbox {
namespace {
namespace fs = std::filesystem;
constexpr const char* kSource = "extern \"C\" __global__ void k(int* x) { *x = 1; }";

class OwnKernelTest : public testing::Test {
 protected:
  std::string binary_of(const std::string& source = kSource, const std::string& made_by = "this program") {
    return process::read_memory(OwnKernel("own.cu", source, {"", "", kept_in_, made_by}, pool_).wait().get());
  }
  std::vector<fs::path> kept() const { return {fs::directory_iterator(kept_in_), fs::directory_iterator()}; }

  const core::Paths paths_ = core::installed_paths();
  CompilePool pool_{
      {paths_.worker("cuda"),
       {"--device-headers", paths_.device_headers().string(), "--cuda-home", KW_CUDA_HOME, "--arch", "sm_90"},
       {}},
      1};
  const cpu::test::TemporaryFolder folder_;
  const fs::path kept_in_ = folder_.path() / "kept";
};

TEST_F(OwnKernelTest, AreKeptWithTheirHash) {
  const std::string first = binary_of();
  ASSERT_EQ(kept().size(), 1u);
  const auto written = fs::last_write_time(kept()[0]);
  EXPECT_TRUE(kept()[0].filename().string().starts_with("own.cu-sm_90-")) << kept()[0];
  EXPECT_EQ(binary_of(), first);
  EXPECT_EQ(fs::last_write_time(kept()[0]), written) << "it was compiled again";
}

TEST_F(OwnKernelTest, DamagedFilesAreCompiledAgain) {
  const std::string first = binary_of();
  for (const std::string& damaged : {std::string(), first, core::read_file(kept()[0]) + "x"}) {
    std::ofstream(kept()[0], std::ios::binary) << damaged;
    EXPECT_EQ(binary_of(), first);
    EXPECT_EQ(core::read_file(kept()[0]).size(), first.size() + 64);
  }
}

TEST_F(OwnKernelTest, OthersTakeTheirPlace) {
  binary_of();
  const fs::path first = kept()[0];
  binary_of(kSource, "another program");
  ASSERT_EQ(kept().size(), 1u);
  EXPECT_NE(kept()[0], first);
  const fs::path second = kept()[0];
  binary_of("extern \"C\" __global__ void k(int* x) { *x = 2; }", "another program");
  ASSERT_EQ(kept().size(), 1u);
  EXPECT_NE(kept()[0], second);
}

TEST_F(OwnKernelTest, WhereNothingCanBeKeptTheyAreCompiled) {
  std::ofstream(folder_.path() / "kept") << "a file where the folder should be";
  EXPECT_FALSE(binary_of().empty());
}

TEST_F(OwnKernelTest, MistakesAreOurs) {
  EXPECT_THROW(binary_of("extern \"C\" __global__ void k(int* x) { *x = ; }"), core::SystemError);
  EXPECT_FALSE(fs::exists(kept_in_));
}

}  // namespace
}  // namespace sandbox
#endif
