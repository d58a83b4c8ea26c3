#include "sandbox/cpu/compiler/asm_macros.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu::compiler {
namespace {
using testing::HasSubstr;

TEST(AsmMacros, ExpandsTextAndOperandsOfAStatement) {
  EXPECT_EQ(expand_asm_macros("#define OP \"mov\"\n#define TO(i) \"=r\"(d[i])\n#define BOTH TO(0), TO(1 + 1)\n"
                              "void f() { asm volatile(OP \".u32 %0, 1;\"\n : BOTH); int OP2 = TO(3); }\n"),
            "#define OP \"mov\"\n#define TO(i) \"=r\"(d[i])\n#define BOTH TO(0), TO(1 + 1)\n"
            "void f() { asm volatile( \"mov\" \".u32 %0, 1;\" : \"=r\"(d[ 0 ]) , \"=r\"(d[ 1 + 1 ]) )\n; int OP2 = "
            "TO(3); }\n");
}

TEST(AsmMacros, ExpandsMacrosWhoseStatementTakesParameters) {
  const std::string source =
      "#define NAME(n) \"add.u\" #n\n"
      "#define ADD(n, x, y) \\\n  asm(NAME(n) \" %0, %1, %2;\" \\\n : \"+r\"(x) : \"r\"(x), \"r\"(y << 1))\n"
      "void f() { ADD(32,\n a, g(b, c)); ADD (64, a, a); }\n#undef ADD\nint ADD(int);\n";
  const std::string expanded = expand_asm_macros(source);
  EXPECT_THAT(expanded,
              HasSubstr("asm( \"add.u\" \"32\" \" %0, %1, %2;\" : \"+r\"( a ) : \"r\"( a ), \"r\"( g(b, c) << 1))\n; "
                        "asm( \"add.u\" \"64\""));
  EXPECT_THAT(expanded, HasSubstr("#define ADD(n, x, y) \\\n  __nv_assembly_in_a_macro\\\n\n"));
  EXPECT_THAT(expanded, HasSubstr("#undef ADD\nint ADD(int);\n"));
}

TEST(AsmMacros, LeavesTheRestAlone) {
  for (const char* source :
       {"#define F(x) x\nint F(a);\n", "#define S(d) asm volatile(\"\" : \"+f\"(d))\nvoid f() { S(x); }\n",
        "#define V(...) asm(\"a\" __VA_ARGS__)\nvoid f() { V(\"b\"); }\n",
        "#define P(a) asm(\"a\" x##a)\nvoid f() { P(b); }\n", "void f() { asm(TEXT); asm(\"x\" }\n",
        "#if A\n#define T \"x\"\n#else\n#define T \"y\"\n#endif\nvoid f() { asm(T); }\n",
        "#define T T\nvoid f() { asm(\"trap;\"); int asmT; }\n"}) {
    EXPECT_EQ(expand_asm_macros(source), source);
  }
  // A macro within itself stays, as in C++.
  EXPECT_EQ(expand_asm_macros("#define T T U\n#define U T\nvoid f() { asm(T); }"),
            "#define T T U\n#define U T\nvoid f() { asm( T T ); }");
}

TEST(AsmMacros, EndsWithWhatGrows) {
  std::string source = "#define A0 \"x\"\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = " A" + std::to_string(i - 1);
    source += "#define A" + std::to_string(i) + before + before + "\n";
  }
  source += "void f() { asm(A39); }\n";
  EXPECT_EQ(expand_asm_macros(source), source);
}

TEST(AsmMacros, WhatOtherMacrosUseIsUnsupported) {
  const Compilation result = test::compile_text(
      "#define TWICE(op) asm(op \";\"); asm(op \";\")\n#define ALL TWICE(\"trap\")\n"
      "extern \"C\" __global__ void k() {\n ALL; }\n");
  const auto& rejected = std::get<Rejected>(result);
  EXPECT_EQ(rejected.reason, Rejection::unsupported) << rejected.message;
  EXPECT_EQ(rejected.line, 1);
}

// kernels/include/kw/wgmma.cuh uses macros in the same way.
TEST(AsmMacros, FunctionsMadeByMacrosRun) {
  for (const Build build : {Build::fast, Build::check}) {
    test::Device device(R"(
      #define TO_2 "%0, %1"
      #define TO_4 TO_2 ", %2, %3"
      #define RESULTS_2(i) "=f"(d[i]), "=f"(d[i + 1])
      #define RESULTS_4(i) RESULTS_2(i), RESULTS_2(i + 2)
      #define IF(ADD) "{\n.reg .pred p;\nsetp.ne.b32 p, " ADD ", 0;\n@p ld.global.v"
      #define LOAD(N, COUNT, NUMBERS, RESULTS, FROM, ADD)                                     \
        __device__ __forceinline__ void load(float (&d)[COUNT], const float* from, int add) { \
          if constexpr (COUNT > 0) {                                                          \
            asm volatile(IF(ADD) N ".f32 {" NUMBERS "}, [" FROM "];\n}" : RESULTS : "l"(from), "r"(add)); \
          }                                                                                   \
        }
      LOAD("2", 2, TO_2, RESULTS_2(0), "%2", "%3")
      LOAD("4", 4, TO_4, RESULTS_4(0), "%4", "%5")
      #undef LOAD
      extern "C" __global__ void k(float* out) {
        float two[2] = {7, 7}, four[4];
        load(two, out, 0);
        load(four, out, 1);
        out[4] = two[0] + four[3];
      })",
                        build);
    float* out = device.add_floats("out", 8, 1);
    out[3] = 5;
    const auto fault = device.launch("k", 1, 1);
    ASSERT_FALSE(fault) << fault->describe();
    EXPECT_EQ(out[4], 12);
  }
}

}  // namespace
}  // namespace sandbox::cpu::compiler
