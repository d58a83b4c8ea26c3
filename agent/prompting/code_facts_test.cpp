#include "agent/prompting/code_facts.h"

#include <gtest/gtest.h>

#include "agent/prompting/prompting_fixture.h"

namespace agent::prompting {
namespace {

std::string line_of(const std::string& file, const std::string& backend) {
  const sandbox::Solution solution = test::shipped_solution(file);
  const benchsuite::Problem& problem = test::shipped_problem(solution.problem);
  return distinguishing_line(
      facts_of(solution, sandbox::default_binding(solution), first_bench(problem, backend)->axes, problem));
}

TEST(CodeFacts, TellSolutionsApart) {
  EXPECT_EQ(line_of("softmax_f32/row_in_registers.cu", "cuda"),
            "block 256, grid 8192; 16-byte vectors; shared memory; warp operations; 2 barriers");
  EXPECT_EQ(line_of("softmax_f32/row_in_registers.cu", "cpu"),
            "block 256, grid 256; 16-byte vectors; shared memory; warp operations; 2 barriers");
  EXPECT_EQ(line_of("transpose_f32/register_tile.cu", "cpu"), "block 8x32, grid 16x4; 16-byte vectors; no barriers");
  EXPECT_EQ(line_of("histogram_i32/shared_copies.cu", "cuda"),
            "2 launches; block 1024, grid 256; 16-byte vectors; shared memory; atomics; 2 barriers");
  EXPECT_EQ(line_of("gemm_f16/tensor_cores.cu", "cuda").find("block 256, grid 32x32; tensor cores"), 0u);
  EXPECT_EQ(line_of("sum_f32/two_launches.cu", "cuda").find("2 launches; block 1024, grid 528; 2112 B of workspace"),
            0u);
}

TEST(CodeFacts, APlanThatCannotBeBoundTellsLess) {
  const sandbox::Solution solution = test::shipped_solution("softmax_f32/row_in_registers.cu");
  const benchsuite::Problem& problem = test::shipped_problem("softmax_f32");
  const CodeFacts facts = facts_of(solution, {}, {}, problem);
  EXPECT_TRUE(facts.launches.empty());
  EXPECT_EQ(facts.threads(), 0);
  EXPECT_EQ(distinguishing_line(facts), "16-byte vectors; shared memory; warp operations; 2 barriers");
}

TEST(CodeFacts, ExplicitVectorTypes) {
  sandbox::Solution solution;
  const auto line = [&](const std::string& source) {
    solution.source = source;
    return distinguishing_line(facts_of(solution, {}, {}, test::shipped_problem("softmax_f32")));
  };
  EXPECT_EQ(line("typedef float f8 __attribute__((vector_size(32)));"), "32-byte vectors; no barriers");
  EXPECT_EQ(line("typedef float f8 __attribute__((vector_size(4 * VEC)));"), "explicit vectors; no barriers");
  EXPECT_EQ(line("int vector_size;"), "no barriers");
}

}  // namespace
}  // namespace agent::prompting
