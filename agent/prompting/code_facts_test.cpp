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

TEST(CodeFacts, WhatShippedKernelsDo) {
  const auto facts = [](const std::string& file) {
    const sandbox::Solution solution = test::shipped_solution(file);
    return facts_of(solution, sandbox::default_binding(solution), {}, test::shipped_problem(solution.problem));
  };
  const CodeFacts persistent = facts("gemm_bf16/persistent_wgmma.cu");
  EXPECT_TRUE(persistent.wgmma && persistent.tensor_cores && persistent.tma && persistent.mbarriers);
  EXPECT_TRUE(persistent.walks_grid && persistent.splits_work) << "blocks stay, and form clusters";
  EXPECT_TRUE(persistent.padded) << "tensor maps swizzle";
  EXPECT_EQ(persistent.stages, 4);
  const CodeFacts wmma = facts("gemm_f16/tensor_cores.cu");
  EXPECT_TRUE(wmma.tensor_cores && wmma.register_tiles && wmma.padded && wmma.vector_arrays);
  EXPECT_FALSE(wmma.wgmma || wmma.async_copies || wmma.tma || wmma.walks_grid || wmma.splits_work || wmma.streaming);
  EXPECT_EQ(wmma.stages, 0);
  EXPECT_TRUE(facts("gemm_f16/matrix_cores.cu").tensor_cores) << "of AMD";
  EXPECT_TRUE(facts("decode_bf16/split_mma.cu").splits_work);
  EXPECT_TRUE(facts("topk_f32/group_maxima.cu").dependent_launches);
  const CodeFacts softmax = facts("softmax_f32/row_in_registers.cu");
  EXPECT_TRUE(softmax.vector_arrays);
  EXPECT_FALSE(softmax.padded || softmax.streaming || softmax.walks_grid || softmax.tensor_cores);
  EXPECT_FALSE(facts("softmax_f32/lanes_per_row.cu").padded) << "an index such as [i + 1] is no padding";
}

}  // namespace
}  // namespace agent::prompting
