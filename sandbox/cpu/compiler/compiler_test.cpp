#include "sandbox/cpu/compiler/compiler.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu::compiler {
namespace {
using test::built;
using test::compile_text;
using testing::HasSubstr;
using testing::Not;

Rejected rejected(const std::string& source, Build build = Build::fast, const Macros& macros = {},
                  double deadline_s = 30) {
  Compilation compilation = compile_text(source, build, macros, deadline_s);
  if (!std::holds_alternative<Rejected>(compilation)) throw std::runtime_error("this compiles: " + source);
  return std::move(std::get<Rejected>(compilation));
}

constexpr const char* kScale = "extern \"C\" __global__ void k(float* x) { x[threadIdx.x] *= FACTOR; }\n";

TEST(Compiler, GivesASealedBinaryNamedByItsContent) {
  const Built two = built(kScale, Build::fast, {{"FACTOR", 2}});
  EXPECT_GT(two.binary_bytes, 1000u);
  EXPECT_EQ(two.binary_hash.size(), 64u);
  EXPECT_GT(two.compile_ms, 0);
  EXPECT_EQ(two.log, "");
  EXPECT_EQ(::fcntl(two.binary.get(), F_GET_SEALS), F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
  EXPECT_EQ(built(kScale, Build::fast, {{"FACTOR", 2}}).binary_hash, two.binary_hash);
  EXPECT_NE(built(kScale, Build::fast, {{"FACTOR", 3}}).binary_hash, two.binary_hash);
}

TEST(Compiler, MacrosThatChangeNothingGiveTheSameBinary) {
  for (const Build build : {Build::fast, Build::check}) {
    const std::string plain = built(kScale, build, {{"FACTOR", 2}}).binary_hash;
    EXPECT_EQ(built(kScale, build, {{"FACTOR", 2}, {"UNUSED", 7}}).binary_hash, plain);
  }
}

TEST(Compiler, CountsSharedMemory) {
  EXPECT_EQ(built("extern \"C\" __global__ void k(float* x) { __shared__ float s[40]; s[threadIdx.x] = x[0]; "
                  "__syncthreads(); x[0] = s[1]; }",
                  Build::check)
                .shared_bytes,
            160);
}

TEST(Compiler, ErrorsCarryTheLineOfTheSolution) {
  const Rejected syntax = rejected("// one\n\nextern \"C\" __global__ void k(float* x) {\n  x[0] = ;\n}\n");
  EXPECT_EQ(syntax.reason, Rejection::compile_error);
  EXPECT_EQ(syntax.line, 4);
  EXPECT_THAT(syntax.log, HasSubstr("solution.cu:4"));
  EXPECT_THAT(syntax.log, Not(HasSubstr("/kw_test_")));
  const Rejected undeclared = rejected("__device__ float f() {\n  return missing;\n}\n");
  EXPECT_EQ(undeclared.reason, Rejection::compile_error);
  EXPECT_EQ(undeclared.line, 2);
  EXPECT_THAT(undeclared.message, HasSubstr("missing"));
}

TEST(Compiler, WhatThisDeviceLacksIsUnsupportedAndNotAnError) {
  const Rejected function = rejected("extern \"C\" __global__ void k(float* x) {\n  cudaGraphLaunch(x);\n}\n");
  EXPECT_EQ(function.reason, Rejection::unsupported);
  EXPECT_EQ(function.line, 2);
  EXPECT_EQ(function.message, "cudaGraphLaunch is unsupported on the cpu device");
  const Rejected assertion = rejected(
      "template <int N> struct Tile { static_assert(N < 32, \"unsupported on the cpu device: tiles of 64\"); "
      "};\n\nTile<64> t;\n");
  EXPECT_EQ(assertion.reason, Rejection::unsupported);
  EXPECT_EQ(rejected("extern \"C\" __global__ void k(float** x) { *x = (float*)__builtin_malloc(8); }").reason,
            Rejection::unsupported);
}

TEST(Compiler, RefusesWhatTheBinaryShowsAndTheSourceHid) {
  const struct {
    const char* source;
    const char* message;
  } hidden[] = {
      {"struct S { S(); int x; }; S::S() { x = threadIdx.x; }\n__device__ S s;\nextern \"C\" __global__ void k(float* "
       "x) { x[0] = s.x; }",
       "runs when it is loaded"},
      {"extern \"C\" int system(const char*);\nextern \"C\" __global__ void k(float* x) { x[0] = system(\"id\"); }",
       "calls system"},
      {"extern \"C\" long syscall(long, ...);\nextern \"C\" __global__ void k(float* x) { x[0] = syscall(39); }",
       "calls syscall"},
      {"__device__ int launches;\nextern \"C\" __global__ void k(float* x) { x[0] = ++launches; }",
       "the variable launches keeps state between launches"},
      {"extern \"C\" __global__ void k(float* x) { static int calls = 3; x[0] = ++calls; }",
       "keeps state between launches"},
      {"__device__ char huge[100ull << 30];\nextern \"C\" __global__ void k(float* x) { x[0] = huge[threadIdx.x]++; }",
       ""},
  };
  for (const auto& [source, message] : hidden) {
    const Rejected refusal = rejected(source);
    EXPECT_THAT(refusal.message, HasSubstr(message));
    const bool expected = refusal.reason == Rejection::forbidden || refusal.reason == Rejection::limit;
    EXPECT_TRUE(expected) << source << "\n" << refusal.message;
  }
}

TEST(Compiler, ConstantsAreNoState) {
  test::Device device(R"(
    __constant__ float table[3] = {1, 2, 3};
    __device__ const int offsets[2] = {4, 5};
    extern "C" __global__ void k(float* x, int i) { x[0] = table[i] + offsets[i % 2]; }
  )",
                      Build::check);
  const float* x = device.add_floats("x", 1);
  device.add_argument(1);
  const auto fault = device.launch("k", 1, 1);
  EXPECT_FALSE(fault) << fault->describe();
  EXPECT_EQ(x[0], 7);
}

TEST(Compiler, StopsBombs) {
  const auto began = std::chrono::steady_clock::now();
  const Rejected templates = rejected(
      "template <int N> struct F { static constexpr int v = F<N - 1>::v + F<N - 2>::v; };\nint x = F<100000>::v;\n",
      Build::fast, {}, 5);
  EXPECT_NE(templates.reason, Rejection::unsupported);
  std::string macros = "#define A0 x,x,x,x,x,x,x,x,x,x\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "A" + std::to_string(i - 1);
    macros += "#define A" + std::to_string(i) + " ";
    for (int j = 0; j < 10; ++j) macros += before + (j < 9 ? "," : "\n");
  }
  EXPECT_EQ(rejected(macros + "int y[] = {A11};\n", Build::fast, {}, 2).reason, Rejection::limit);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));  // they would take hours
}

TEST(Compiler, ALogIsCutAndClean) {
  std::string source;
  for (int i = 0; i < 2000; ++i) source += "int broken_" + std::to_string(i) + " = \x01undefined;\n";
  const Rejected refusal = rejected(source);
  EXPECT_LE(refusal.log.size(), 8300u);
  EXPECT_EQ(refusal.log.find('\x01'), std::string::npos);
}

TEST(Compiler, CannotBeMadeToReadTheEnvironment) {
  ::setenv("KW_TEST_SECRET", "tell-nobody", 1);
  const Rejected refusal = rejected("#include \"/proc/self/environ\"\n");
  EXPECT_EQ(refusal.reason, Rejection::forbidden);
  EXPECT_THAT(refusal.log, Not(HasSubstr("tell-nobody")));
}

}  // namespace
}  // namespace sandbox::cpu::compiler
