#include "sandbox/cpu/inspection/code_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu::inspection {
namespace {
using testing::HasSubstr;

#if defined(__x86_64__)
// At address 0x1000; the linker's table is at 0x2000 to 0x2010.
std::string finding(const std::vector<uint8_t>& bytes) {
  return refuse_code({{0x1000, bytes.data(), bytes.size()}}, {{0x2000, 0x2010}}).value_or("");
}

TEST(CodeCheck, KnowsWhatIsNotForKernels) {
  EXPECT_EQ(finding({0x90, 0xc3}), "");                                         // nop; ret
  EXPECT_EQ(finding({0x0f, 0x0b}), "");                                         // ud2, of __builtin_trap
  EXPECT_THAT(finding({0x0f, 0x05, 0xc3}), HasSubstr("syscall"));               //
  EXPECT_THAT(finding({0xcd, 0x80}), HasSubstr("int"));                         // int 0x80
  EXPECT_THAT(finding({0x0f, 0x34}), HasSubstr("sysenter"));                    //
  EXPECT_THAT(finding({0x0f, 0x31}), HasSubstr("rdtsc"));                       //
  EXPECT_THAT(finding({0x0f, 0x01, 0xf9}), HasSubstr("rdtscp"));                //
  EXPECT_THAT(finding({0x0f, 0xa2}), HasSubstr("cpuid"));                       //
  EXPECT_THAT(finding({0x0f, 0xc7, 0xf0}), HasSubstr("rdrand"));                //
  EXPECT_THAT(finding({0xf3, 0x48, 0x0f, 0xae, 0xd0}), HasSubstr("wrfsbase"));  //
  EXPECT_THAT(finding({0x8e, 0xe0}), HasSubstr("mov"));                         // mov fs, eax
  EXPECT_THAT(finding({0x0f, 0xa1}), HasSubstr("pop"));                         // pop fs
  EXPECT_THAT(finding({0x0f, 0x01, 0xef}), HasSubstr("wrpkru"));                //
  EXPECT_THAT(finding({0xcb}), HasSubstr("another segment"));                   // retf
  EXPECT_THAT(finding({0x06}), HasSubstr("no instructions"));                   //
  EXPECT_THAT(finding({0xb8, 0x00}), HasSubstr("no instructions"));             // cut
}

TEST(CodeCheck, CallsGoByName) {
  EXPECT_THAT(finding({0xff, 0xd0}), HasSubstr("through a pointer"));        // call rax
  EXPECT_THAT(finding({0xff, 0xe2}), HasSubstr("through a pointer"));        // jmp rdx
  EXPECT_THAT(finding({0x41, 0xff, 0x23}), HasSubstr("through a pointer"));  // jmp [r11]
  EXPECT_THAT(finding({0xff, 0x24, 0xc5, 0x00, 0x20, 0x00, 0x00}),
              HasSubstr("through a pointer"));                                                 // jmp [rax*8+0x2000]
  EXPECT_EQ(finding({0xff, 0x15, 0xfa, 0x0f, 0x00, 0x00}), "");                                // call [rip] at 0x2000
  EXPECT_EQ(finding({0xff, 0x25, 0x02, 0x10, 0x00, 0x00}), "");                                // jmp [rip] at 0x2008
  EXPECT_THAT(finding({0xff, 0x25, 0x0a, 0x10, 0x00, 0x00}), HasSubstr("through a pointer"));  // at 0x2010
  EXPECT_THAT(finding({0xff, 0x25, 0x03, 0x10, 0x00, 0x00}), HasSubstr("through a pointer"));  // at 0x2009
  EXPECT_THAT(finding({0x65, 0xff, 0x15, 0xf9, 0x0f, 0x00, 0x00}), HasSubstr("through a pointer"));  // gs:[rip]
}

TEST(CodeCheck, NothingHidesInsideOfAnInstruction) {
  EXPECT_EQ(finding({0xb8, 0x0f, 0x05, 0x00, 0x00, 0xeb, 0xf9}), "");  // mov eax, 0x050f; jmp to the mov
  EXPECT_THAT(finding({0xb8, 0x0f, 0x05, 0x00, 0x00, 0xeb, 0xfa}), HasSubstr("where no instruction begins"));
  EXPECT_THAT(finding({0xe8, 0x00, 0x10, 0x00, 0x00}), HasSubstr("where no instruction begins"));  // out of the code
}
#endif

std::string refusal(const std::string& source, Build build) {
  const Compilation compilation = test::compile_text(source, build);
  const auto* rejected = std::get_if<Rejected>(&compilation);
  return rejected == nullptr ? "" : std::string(name_of(rejected->reason)) + ": " + rejected->message;
}

TEST(CodeCheck, HoldsForBothBuilds) {
  for (const Build build : {Build::fast, Build::check}) {
    EXPECT_THAT(refusal("extern \"C\" __global__ void k(float* y, unsigned long long at) {\n"
                        "  y[0] = ((float (*)(float))at)(y[1]);\n}\n",
                        build),
                HasSubstr("forbidden: calls a function through a pointer"));
    EXPECT_EQ(refusal("__device__ __noinline__ float half_of(float x) { return x / 2; }\n"
                      "extern \"C\" __global__ void k(float* y, int i) {\n"
                      "  switch (i) {\n    case 0: y[0] = 1; break;\n    case 1: y[5] = half_of(y[0]); break;\n"
                      "    case 2: y[4] = sinf(y[4]); break;\n    case 3: __syncthreads(); break;\n"
                      "    case 4: y[2] = __shfl_xor_sync(~0u, y[9], 1); break;\n    case 5: __trap();\n"
                      "    default: atomicAdd(y, 3.f);\n  }\n}\n",
                      build),
              "");
  }
}

// The checking build sees what functions of the library write and read.
TEST(CodeCheck, MathematicsWritesWithinItsBuffers) {
  for (const char* call : {"frexpf(x[0], (int*)x + far)", "modff(x[0], x + far)", "remquof(x[0], 2.f, (int*)x + far)",
                           "sincosf(x[0], x, x + far)", "x[1] = memcmp(x, x + far, 64)"}) {
    test::Device device("extern \"C\" __global__ void k(float* x, int far) { " + std::string(call) + "; }",
                        Build::check);
    device.add_floats("x", 32);
    device.add_argument(1 << 20);
    const auto fault = device.launch("k", 1, 1);
    ASSERT_TRUE(fault) << call;
    EXPECT_EQ(fault->kind, FaultKind::out_of_bounds) << call << ": " << fault->describe();
  }
}

}  // namespace
}  // namespace sandbox::cpu::inspection
