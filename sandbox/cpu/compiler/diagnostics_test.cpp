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

TEST(Diagnostics, ALimitOfTheCompilerIsALimit) {
  for (const char* said : {"fatal error: template instantiation depth exceeds maximum of 900 (use ...)",
                           "error: 'constexpr' loop iteration count exceeds limit of 262144 (use ...)",
                           "error: x is no constant expression\nkernel.cu:4:2: note: constexpr evaluation hit maximum "
                           "step limit; possible infinite loop?"}) {
    const Rejected rejected = classify_diagnostics("kernel.cu:3:7: " + std::string(said) + "\n", "b.cu");
    EXPECT_EQ(rejected.reason, Rejection::limit) << said;
    EXPECT_THAT(rejected.message, testing::AnyOf(testing::HasSubstr("limit"), testing::HasSubstr("maximum")));
    EXPECT_EQ(rejected.line, 3);
  }
}

}  // namespace
}  // namespace sandbox::cpu::compiler
