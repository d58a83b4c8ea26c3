// Messages of the cpu device about plans that ask for more than it has.
#include "sandbox/cpu/compiler/source_rules.h"

#include <gtest/gtest.h>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu::compiler {
namespace {

std::string source(const std::string& more, const std::string& launch) {
  return "/* kernelwright\n{\"problem\": \"p\", " + more +
         R"("launches": [{"kernel": "k", "grid": [4], "block": [1], "args": []},
                          {"kernel": "k", "grid": [4], "block": [1], "args": [])" +
         launch + "}]}\n*/\nextern \"C\" __global__ void k() {}\n";
}

std::string outcome(const std::string& text, Build build = Build::fast) {
  const Compilation compilation = test::compile_text(text, build);
  const auto* rejected = std::get_if<Rejected>(&compilation);
  return rejected == nullptr ? "built" : std::string(name_of(rejected->reason)) + ": " + rejected->message;
}

TEST(CpuPlanRules, WhatTheDeviceLacksIsUnsupported) {
  EXPECT_EQ(outcome(source("", "")), "built");
  EXPECT_EQ(
      outcome(source("", R"(, "cooperative": true)")),
      "unsupported: a cooperative launch (kernel k) is unsupported on the cpu device, but for its checking build");
  EXPECT_EQ(outcome(source("", R"(, "cooperative": true)"), Build::check), "built");
}

TEST(CpuPlanRules, ClustersOverlapsAndTensorMapsAreBuilt) {
  EXPECT_EQ(outcome(source("", R"(, "cluster": [2])")), "built");
  EXPECT_EQ(outcome(source("", R"(, "overlaps_previous": true)")), "built");
  EXPECT_EQ(outcome(source(R"("tensor_maps": {"x_map": {"tensor": "x", "box": [64]}}, )", "")), "built");
}

}  // namespace
}  // namespace sandbox::cpu::compiler
