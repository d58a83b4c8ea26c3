#include "sandbox/cpu/compiler/diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sandbox::cpu::compiler {
namespace {

TEST(Diagnostics, AnUndeclaredNameOfCudaIsUnsupported) {
  const Rejected rejected =
      classify_diagnostics("kernel.cu:7:3: error: '__kw_ptx_foo_bar' was not declared in this scope\n", "a/b.cu");
  EXPECT_EQ(rejected.reason, Rejection::unsupported);
  EXPECT_EQ(rejected.message, "the PTX instruction foo_bar is unsupported on the cpu device");
  EXPECT_EQ(rejected.line, 7);
  EXPECT_THAT(rejected.log, testing::StartsWith("b.cu:7:3: error:"));
}

// Found by fuzzing: the name between the quotes was shown as it came.
TEST(Diagnostics, NamesInThemAreCleanedAndCut) {
  const Rejected rejected = classify_diagnostics(
      "kernel.cu:7:3: error: '__vabs\x1b[31m\xfa" + std::string(5000, 'v') + "' was not declared\n", "b.cu");
  EXPECT_EQ(rejected.reason, Rejection::unsupported);
  EXPECT_THAT(rejected.message, testing::StartsWith("__vabs?[31m?vvv"));
  EXPECT_THAT(rejected.message, testing::EndsWith("vvv... is unsupported on the cpu device"));
  EXPECT_LT(rejected.message.size(), 200u);
}

}  // namespace
}  // namespace sandbox::cpu::compiler
