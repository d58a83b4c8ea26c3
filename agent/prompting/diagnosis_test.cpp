#include "agent/prompting/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "agent/prompting/prompting_fixture.h"

namespace agent::prompting {
namespace {
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using verifier::verdicts::Where;

AttemptFacts facts_of(verifier::verdicts::Verdict verdict,
                      const std::string& file = "softmax_f32/row_in_registers.cu") {
  AttemptFacts facts;
  facts.verdict = std::move(verdict);
  facts.solution = test::shipped_solution(file);
  facts.binding = sandbox::default_binding(facts.solution);
  return facts;
}

Diagnosis diagnosed(const AttemptFacts& facts, const std::string& backend = "cuda") {
  return diagnose(facts, test::shipped_problem(facts.solution.problem), backend);
}
std::string text_of(verifier::verdicts::Verdict verdict) { return diagnosed(facts_of(std::move(verdict))).text; }

const Where kWhere{"test_7x257", "M=7 N=257", "ordinary", "forward"};

TEST(Diagnosis, TheFirstErrorsOfACompilerWithTheirLines) {
  AttemptFacts facts =
      facts_of(verifier::verdicts::CompileFailed{sandbox::Rejection::compile_error, "expected a ';'", 3});
  facts.solution.source = "one\n  two\nthree\x1b[2J\nfour\nfive";
  facts.compile_log =
      "a.cu(3): error: expected a \";\"\n          three\n\n1 warning\na.cu(5): error: identifier \"x\" is undefined\n"
      "a.cu(5): error: identifier \"x\" is undefined\na.cu(1): error: c\na.cu(1): error: d\n";
  const std::string text = diagnosed(facts).text;
  EXPECT_THAT(text, HasSubstr("Verdict compile_error. Line 3: expected a ';'. Mend the source"));
  EXPECT_THAT(text, HasSubstr("line 3: expected a \";\"\n  2 |   two\n> 3 | three?[2J\n"));
  EXPECT_THAT(text, HasSubstr("line 5: identifier \"x\" is undefined\n  4 | four\n> 5 | five\nline 1: c"));
  EXPECT_THAT(text, Not(HasSubstr("error: d")));
  facts.compile_log = "kernel.cu:4:7: error: 'x' was not declared\n";  // a host compiler's form
  EXPECT_THAT(diagnosed(facts).text, HasSubstr("line 4: 'x' was not declared\n  3 | three?[2J\n> 4 | four\n"));
}

TEST(Diagnosis, ARefusalQuotesItsLine) {
  AttemptFacts facts = facts_of(verifier::verdicts::CompileFailed{sandbox::Rejection::forbidden, "reads the clock", 2});
  facts.solution.source = "one\ntwo\n";
  EXPECT_THAT(diagnosed(facts).text,
              AllOf(HasSubstr("Verdict forbidden. Line 2: reads the clock. Leave this construct out"),
                    HasSubstr("> 2 | two\n")));
  facts.verdict =
      verifier::verdicts::CompileFailed{sandbox::Rejection::limit, "too long", 99};  // there is no such line
  EXPECT_THAT(diagnosed(facts).text, AllOf(HasSubstr("Verdict limit."), Not(HasSubstr("```"))));
}

TEST(Diagnosis, AWrongElementIsFoundInItsOutput) {
  const std::string text =
      text_of(verifier::verdicts::WrongResult{kWhere, "y", 3 * 257 + 256, 2.5, 0, 900, 7, 7 * 257});
  EXPECT_THAT(text, HasSubstr("Verdict wrong_result. Wrong result at workload test_7x257 (M=7 N=257"));
  EXPECT_THAT(text, HasSubstr("y[1027] is 0 where 2.5 is right"));
  EXPECT_THAT(text, HasSubstr("Index 1027 of y is [3, 256] of [7, 257]."));
  EXPECT_THAT(text, HasSubstr("It is zero"));
  EXPECT_THAT(text, HasSubstr("at the end of dimension 1"));
  EXPECT_THAT(text, HasSubstr("M=7 is not a multiple of 4, N=257 is not a multiple of 4"));
  EXPECT_THAT(text, HasSubstr("The tunables were BLOCK=256 PACKS=8."));
}

TEST(Diagnosis, DescribesAWrongElement) {
  const auto wrong = [](double expected, double got, int64_t count) {
    return text_of(verifier::verdicts::WrongResult{
        {"unseen", "M=4 N=256", "ordinary", ""}, "y", 5, expected, got, 9, count, 1024});
  };
  EXPECT_THAT(wrong(1, 2, 1024), AllOf(HasSubstr("2 times the right value"), HasSubstr("Every element is wrong")));
  EXPECT_THAT(wrong(4, 1, 2), AllOf(HasSubstr("1/4 of the right value"), Not(HasSubstr("Every element"))));
  EXPECT_THAT(wrong(4, -4, 2), HasSubstr("Its sign is wrong"));
  EXPECT_THAT(wrong(1, 1.001, 2), HasSubstr("check precision"));
  EXPECT_THAT(wrong(1, 7.7, 2), AllOf(Not(HasSubstr("precision (")), Not(HasSubstr("times the right value")),
                                      HasSubstr("[0, 5] of [4, 256]"), HasSubstr("M=4 is not a multiple of 256")));
}

TEST(Diagnosis, TheJudgesPatternStandsInPlaceOfGuesses) {
  verifier::verdicts::WrongResult wrong{kWhere, "y", 3 * 257 + 256, 2.5, 0, 900, 7, 7 * 257};
  wrong.pattern =
      verifier::verdicts::Pattern{verifier::verdicts::PatternKind::tail, "Only elements of the last column differ."};
  EXPECT_THAT(text_of(wrong), AllOf(HasSubstr("7 of 1799 elements are wrong. Only elements of the last column differ."),
                                    HasSubstr("Index 1027 of y is [3, 256] of [7, 257]."),
                                    HasSubstr("N=257 is not a multiple of 4"), Not(HasSubstr("It is zero"))));
}

TEST(Diagnosis, NonsenseInAVerdictDoesNoHarm) {
  const Where odd{"\x1b[2J", "M=x N= =3 M=99999999999999999999", "", ""};
  EXPECT_THAT(text_of(verifier::verdicts::WrongResult{odd, "nothing", -5, 0, 0, 0, 0, 0}), Not(HasSubstr("Index")));
  EXPECT_THAT(text_of(verifier::verdicts::WrongResult{{"w", "M=0 N=4", "", ""}, "y", 1, 1, 0, 2, 1, 4}),
              Not(HasSubstr("Index")));
  EXPECT_THAT(text_of(verifier::verdicts::NotWritten{{"w", "M=2 N=4", "", ""}, "y", 8, 1, 8}), Not(HasSubstr("Index")));
  EXPECT_THAT(text_of(verifier::verdicts::GuardDamaged{odd, std::string(9000, 'x')}),
              testing::SizeIs(testing::Lt(3100u)));
}

TEST(Diagnosis, DescribesMissingAndNonFiniteElements) {
  EXPECT_THAT(text_of(verifier::verdicts::NotWritten{kWhere, "y", 0, 1799, 1799}),
              HasSubstr("Nothing was written at all"));
  EXPECT_THAT(text_of(verifier::verdicts::NotWritten{kWhere, "y", 258, 1, 1799}),
              HasSubstr("Index 258 of y is [1, 1] of [7, 257]"));
  Where non_finite = kWhere;
  non_finite.distribution = "non_finite";
  EXPECT_THAT(text_of(verifier::verdicts::WrongNonFinite{non_finite, "y", 1, 1, NAN}),
              HasSubstr("the contract requires the reference's handling"));
  EXPECT_THAT(text_of(verifier::verdicts::OrderDependent{kWhere, "y", 257}),
              AllOf(HasSubstr("There is a race"), HasSubstr("[1, 0]")));
}

TEST(Diagnosis, AFaultQuotesItsLine) {
  sandbox::Fault fault;
  fault.kind = sandbox::FaultKind::race;
  fault.message = "writes 'part', which was read";
  fault.kernel = "softmax";
  fault.block = {3, 0, 0};
  fault.thread = {1, 0, 0};
  fault.line = 2;
  AttemptFacts facts = facts_of(verifier::verdicts::Faulted{kWhere, fault});
  facts.solution.source = "one\npart[i] += 1;\n";
  EXPECT_THAT(diagnosed(facts).text,
              AllOf(HasSubstr("Verdict race. race in kernel softmax, block (3,0,0), thread (1,0,0), line 2"),
                    HasSubstr("> 2 | part[i] += 1;"), HasSubstr("Put __syncthreads()")));
}

TEST(Diagnosis, EveryOtherVerdictNamesARemedy) {
  const std::pair<verifier::verdicts::Verdict, const char*> cases[] = {
      {verifier::verdicts::InvalidPlan{"grid is 0"}, "Mend the header's expressions"},
      {verifier::verdicts::GuardDamaged{kWhere, "y"}, "Compare the index with the size"},
      {verifier::verdicts::InputModified{kWhere, "x"}, "Treat inputs as const"},
      {verifier::verdicts::TimedOut{kWhere, 5}, "Look for loops that wait for another thread"},
      {verifier::verdicts::Crashed{kWhere, 11}, "Look for wild pointers"},
      {verifier::verdicts::ForbiddenCall{kWhere}, "Call nothing but device functions"},
      {verifier::verdicts::MemoryLimit{"too much"}, "Use less memory"},
      {verifier::verdicts::TooFast{"bench", 1, 2}, "Compute every element from this launch's inputs"}};
  for (const auto& [verdict, words] : cases) {
    const Diagnosis diagnosis = diagnosed(facts_of(verdict));
    EXPECT_THAT(diagnosis.text, HasSubstr(words));
    EXPECT_THAT(diagnosis.text, HasSubstr("Verdict " + name_of(verdict)));
    EXPECT_FALSE(diagnosis.correct);
    EXPECT_TRUE(diagnosis.bottlenecks.empty());
  }
}

verifier::verdicts::Calibration h200() {
  verifier::verdicts::Calibration c;
  c.architecture = "sm_90a";
  c.multiprocessors = 132;
  c.l2_bytes = 60 << 20;
  c.dram_read_gb_s = c.dram_write_gb_s = c.dram_copy_gb_s = 4600;
  c.fp32_flop_s = 6.5e13;
  c.fp64_flop_s = 3.2e13;
  c.tensor_f16_flop_s = c.tensor_bf16_flop_s = 9e14;
  c.tensor_tf32_flop_s = 4.5e14;
  c.launch_floor_us = 4.4;
  return c;
}

// At the problem's first timed workloads, as many as there are times.
AttemptFacts measured(const std::string& file, const std::vector<std::pair<double, std::optional<double>>>& times,
                      const std::string& backend = "cuda") {
  AttemptFacts facts = facts_of(verifier::verdicts::Correct{10, 0.2, true}, file);
  facts.against = "naive";
  facts.registers = 40;
  facts.spill_bytes = 0;
  if (backend == "cuda") {
    facts.architecture = "sm_90a";
    facts.calibration = h200();
  }
  facts.measurement = verifier::verdicts::Measurement{"gpu", {}, {2, 1.9, 2.1}};
  for (const benchsuite::Workload& workload : test::shipped_problem(facts.solution.problem).workloads) {
    auto& timings = facts.measurement->workloads;
    if (workload.role != benchsuite::Role::bench || !workload.runs_on(backend) || timings.size() == times.size())
      continue;
    const auto& [us, bound_us] = times[timings.size()];
    timings.push_back({workload.name, {}, us, 2 * us, {2, 1.9, 2.1}, bound_us});
  }
  return facts;
}
AttemptFacts measured(const std::string& file, double us, std::optional<double> bound_us,
                      const std::string& backend = "cuda") {
  return measured(file, {{us, bound_us}}, backend);
}

verifier::verdicts::Counters counters_with(std::optional<double> verifier::verdicts::Counters::*field, double value) {
  verifier::verdicts::Counters counters;
  counters.*field = value;
  return counters;
}
using verifier::verdicts::Counters;

TEST(Diagnosis, ACorrectAttemptGetsItsTimeAndOneLimit) {
  const Diagnosis near = diagnosed(measured("softmax_f32/row_in_registers.cu", 134.06, 117));
  EXPECT_TRUE(near.correct);
  EXPECT_THAT(near.text, HasSubstr("bench_8192x8192: 134.1 us, 87 % of the memory bound; memory is at its limit; 2.00x "
                                   "[1.90x, 2.10x] against naive\n"));
  EXPECT_THAT(near.text, HasSubstr("It uses 40 registers per thread, no spills.\n"));
  EXPECT_THAT(near.text, HasSubstr("What limits it: Memory is at its limit, at 87 % of the bound.\n"
                                   "What to change: Mark data that is used once (__ldcs, __stcs).\n"));
  EXPECT_THAT(near.bottlenecks, ElementsAre(Bottleneck::memory_bound));
  EXPECT_EQ(near.advice, Advice::cache_hints);
}

// The figures of a campaign on an H200, whose prompts said "28 % of the peak" and advised asynchronous copies.
TEST(Diagnosis, CountersCountWhereTheyWereTakenAndTheCostliestWorkloadComesFirst) {
  AttemptFacts facts = measured("gemm_f16/persistent_wgmma.cu", {{186, 153}, {8.6, 2.4}});
  facts.measurement->counters = {counters_with(&Counters::tensor, 0.94)};
  facts.measurement->counters[0].workload = "bench_4096x4096x4096";
  const Diagnosis both = diagnosed(facts);
  const size_t small = both.text.find(
                   "- bench_1024x1024x1024: 8.60 us, 28 % of the arithmetic bound; the launch floor: an "
                   "empty launch takes 4.40 us; 2.00x"),
               large = both.text.find(
                   "- bench_4096x4096x4096: 186.0 us, 82 % of the arithmetic bound; arithmetic is at "
                   "its limit: the tensor cores are busy 94 % of the time, as counted; 2.00x");
  ASSERT_NE(small, std::string::npos) << both.text;
  ASSERT_NE(large, std::string::npos) << both.text;
  EXPECT_LT(small, large);
  EXPECT_THAT(both.text, HasSubstr("at its limit, the score would be 1.40x of what it is"));  // sqrt(8.6 / 4.4)
  EXPECT_THAT(both.text, HasSubstr("at its limit, the score would be 1.03x of what it is"));  // sqrt(1 / 0.94)
  EXPECT_THAT(both.text, HasSubstr("What limits it at bench_1024x1024x1024: It takes 8.60 us where"));
  EXPECT_THAT(both.text,
              HasSubstr("Its counters, taken at bench_4096x4096x4096, also say: The tensor cores are busy 94 %"));
  EXPECT_THAT(both.text, Not(HasSubstr("asynchronously")));
  EXPECT_EQ(both.bottlenecks[0], Bottleneck::launch_bound);

  facts.measurement->workloads.pop_back();
  const Diagnosis alone = diagnosed(facts);
  EXPECT_THAT(alone.text, AllOf(HasSubstr("What limits it: Arithmetic is at its limit: the tensor cores are busy 94 %"),
                                HasSubstr("little is left to gain")));
  EXPECT_EQ(alone.advice, std::nullopt);
}

TEST(Diagnosis, WeightsCountAsTheyDoInTheScore) {
  AttemptFacts facts = measured("silu_mul_bf16/packs_of_eight.cu", {{140, 70}, {70, 35}});
  EXPECT_THAT(diagnosed(facts).text, HasSubstr("What limits it at bench_8192x8192:"));
  EXPECT_THAT(diagnosed(facts).text, HasSubstr("score would be 1.41x"));
  facts.measurement->workloads[1].weight = 3;
  EXPECT_THAT(diagnosed(facts).text, HasSubstr("What limits it at bench_2048x14336:"));
  EXPECT_THAT(diagnosed(facts).text, HasSubstr("score would be 1.68x"));  // 2^(3/4)
}

TEST(Diagnosis, ASlowPathForSomeInputsIsNamed) {
  AttemptFacts facts = measured("gemm_f32/register_tile.cu", 1030, 918);
  EXPECT_THAT(diagnosed(facts).text, Not(HasSubstr("slow path")));
  facts.measurement->workloads[0].speed_up = {2.61, 0.26, 2.82};
  EXPECT_THAT(diagnosed(facts).text,
              HasSubstr("Some of its timed runs take 10.04x as long as most, so it does not win"));
}

TEST(Diagnosis, CountersOfAnEarlierVersionWereTakenAtTheLongestWorkload) {
  AttemptFacts facts = measured("gemm_f16/persistent_wgmma.cu", {{186, 153}, {30, 2.4}});
  facts.measurement->counters = {counters_with(&Counters::tensor, 0.94)};
  EXPECT_THAT(diagnosed(facts).text, HasSubstr("Its counters, taken at bench_4096x4096x4096, also say"));
}

TEST(Diagnosis, AccessPatternsCountAtEveryShapeAndBusyUnitsDoNot) {
  AttemptFacts facts = measured("gemm_f16/tensor_cores.cu", {{900, 150}, {200, 2.4}});
  facts.calibration->multiprocessors = 40;  // 64 blocks are enough
  facts.measurement->counters = {counters_with(&Counters::conflicts, 0.5)};
  facts.measurement->counters[0].workload = "bench_4096x4096x4096";
  const Diagnosis conflicts = diagnosed(facts);
  EXPECT_THAT(conflicts.text, HasSubstr("What limits it at bench_1024x1024x1024: 50 % of the passes"));
  EXPECT_EQ(conflicts.advice, Advice::another_layout);  // it pads its tiles
  facts.measurement->counters[0] = counters_with(&Counters::tensor, 0.7);
  facts.measurement->counters[0].workload = "bench_4096x4096x4096";
  EXPECT_THAT(diagnosed(facts).text, HasSubstr("What limits it at bench_1024x1024x1024: Arithmetic is the bound; this "
                                               "solution reaches 1 % of the peak."));
}

TEST(Diagnosis, TooFewBlocksAreNamed) {
  const AttemptFacts facts = measured("gemm_f16/tensor_cores.cu", {{300, 150}, {40, 2.4}});
  const Diagnosis few = diagnosed(facts);
  EXPECT_THAT(few.text, HasSubstr("What limits it at bench_1024x1024x1024: It starts too few blocks, 64 for 132 "
                                  "multiprocessors.\nWhat to change: Let several blocks share a sum"));
  EXPECT_EQ(few.advice, Advice::split_work);
}

TEST(Diagnosis, ABusyUnitMayDoMoreThanTheProblemNeeds) {
  AttemptFacts facts = measured("gemm_f16/tensor_cores.cu", 300, 150);
  facts.measurement->counters = {counters_with(&Counters::tensor, 0.9)};
  EXPECT_EQ(diagnosed(facts).advice, Advice::wgmma) << diagnosed(facts).text;
  facts = measured("gemm_f16/persistent_wgmma.cu", 300, 150);
  facts.measurement->counters = {counters_with(&Counters::tensor, 0.9)};
  EXPECT_EQ(diagnosed(facts).advice, Advice::less_arithmetic);
  facts = measured("softmax_f32/row_in_registers.cu", 240, 117);
  facts.measurement->counters = {counters_with(&Counters::dram, 0.93)};
  EXPECT_EQ(diagnosed(facts).advice, Advice::fewer_bytes);
  EXPECT_THAT(diagnosed(facts).text,
              HasSubstr("The DRAM is busy at 93 % of its bandwidth, as counted, with more than the problem"));
  facts = measured("gemm_f32/register_tile.cu", 4000, 2100);  // bound by arithmetic, but not busy with it
  facts.measurement->counters = {counters_with(&Counters::dram, 0.93)};
  EXPECT_EQ(diagnosed(facts).advice, Advice::fewer_bytes);
  facts.measurement->counters = {counters_with(&Counters::compute, 0.95)};
  EXPECT_EQ(diagnosed(facts).advice, Advice::fewer_instructions);
}

TEST(Diagnosis, TheLimitOnAGpu) {
  const std::string softmax = "softmax_f32/row_in_registers.cu", tile = "transpose_f32/shared_tile.cu";
  AttemptFacts facts = measured(softmax, 300, 117);
  EXPECT_EQ(diagnosed(facts).bottlenecks[0], Bottleneck::latency_bound);  // it has wide loads
  EXPECT_EQ(diagnosed(measured(tile, 300, 117)).bottlenecks[0], Bottleneck::uncoalesced);
  facts.occupancy = 0.2;
  EXPECT_EQ(diagnosed(facts).bottlenecks[0], Bottleneck::occupancy);
  facts.measurement->counters = {counters_with(&Counters::conflicts, 0.5)};
  EXPECT_THAT(diagnosed(facts).text, HasSubstr("What limits it: 50 % of the passes through shared memory are bank "
                                               "conflicts.\nWhat to change: Pad or swizzle"));
  facts.spill_bytes = 65;
  EXPECT_EQ(diagnosed(facts).bottlenecks[0], Bottleneck::spills);
  facts.spill_bytes = 40;  // hardly any
  EXPECT_NE(diagnosed(facts).bottlenecks[0], Bottleneck::spills);
  EXPECT_EQ(diagnosed(measured(softmax, 300, 117)).advice, Advice::asynchronous_copies);
  EXPECT_EQ(diagnosed(measured(softmax, 300, 255)).advice, Advice::cache_hints);  // 85 %: blocks overlap already
  EXPECT_EQ(diagnosed(measured(softmax, 5, 1)).bottlenecks[0], Bottleneck::launch_bound);
  EXPECT_THAT(diagnosed(measured(softmax, 300, std::nullopt)).text, HasSubstr("is unknown"));
  // Its counters lie in shared memory: atomic operations are no guess then.
  EXPECT_EQ(diagnosed(measured("histogram_i32/shared_copies.cu", 300, 60)).bottlenecks[0], Bottleneck::latency_bound);
  facts = measured("histogram_i32/shared_copies.cu", 300, 60);
  facts.solution.source = "__global__ void k(const int* x, int* y) { atomicAdd(y + x[0], 1); }";
  EXPECT_EQ(diagnosed(facts).advice, Advice::private_sums);

  EXPECT_EQ(diagnosed(measured("gemm_f16/register_tile.cu", 3000, 150)).advice, Advice::tensor_cores);
  EXPECT_EQ(diagnosed(measured("gemm_f16/tensor_cores.cu", 900, 150)).advice, Advice::wgmma);
  facts = measured("gemm_f16/tensor_cores.cu", 900, 150);
  facts.architecture = "sm_80";
  EXPECT_EQ(diagnosed(facts).advice, Advice::asynchronous_copies);
  EXPECT_THAT(diagnosed(facts).text, HasSubstr("wait for their operands"));
  facts = measured("gemm_f32/register_tile.cu", 3200, 2000);
  EXPECT_EQ(diagnosed(facts).bottlenecks[0], Bottleneck::compute_bound);
  EXPECT_EQ(diagnosed(facts).advice, Advice::asynchronous_copies);  // it has a register tile
}

// What a source has, by its text alone: advice that it cannot need.
const std::map<Advice, std::string>& signs() {
  static const std::map<Advice, std::string> all{
      {Advice::dependent_launches, "overlaps_previous"},
      {Advice::fewer_blocks, "gridDim[^\\n]*\\n *[^/ ]"},  // not comments of shared headers
      {Advice::persistent_blocks, "gridDim[^\\n]*\\n *[^/ ]"},
      {Advice::split_work, "\"cluster\"|atomicAdd|red\\.global"},
      {Advice::wide_vectors, "float4|u?int4|double2|vector_size|__align__\\(16\\)|cp\\.async\\.bulk"},
      {Advice::asynchronous_copies, "cp\\.async|memcpy_async"},
      {Advice::more_stages, "\"STAGES\": \\[[^\\]]*[3-9]"},  // the tuner can take three
      {Advice::bulk_copies, "cp\\.async\\.bulk"},
      {Advice::cache_hints, "__ldcs|__stcs|no_allocate"},
      {Advice::loads_in_flight, "(float4|uint4|int4) \\w+\\[|cp\\.async"},
      {Advice::tensor_cores, "wgmma\\.mma|mma\\.sync|mma_sync|mfma"},
      {Advice::wgmma, "wgmma\\.mma"},  // not comments of shared headers
      {Advice::register_blocking, "float sums?\\[\\w+\\]\\[|wgmma\\.mma|mma\\.sync|mma_sync|mfma"},
      {Advice::larger_products, "wgmma\\.mma|Sums \\w+\\[\\w+\\]\\["},
      {Advice::padded_tiles, "\"swizzle\"|(float|int|__half) \\w+(\\[\\w+\\])?\\[\\w+ \\+ \\d"},
      {Advice::wide_shared_accesses, "wgmma\\.mma|ldmatrix\\."},
      {Advice::warp_shuffles, "__shfl|__reduce_"},
      {Advice::private_sums, "__shared__|__shfl"},
      {Advice::plain_functions, "vector_size"},
      {Advice::vector_loops, "vector_size|float4|uint4"}};
  return all;
}

// Facts of one kernel as if it were slow for one reason after another.
std::vector<AttemptFacts> situations(const std::string& file, const std::string& backend) {
  std::vector<AttemptFacts> all;
  if (backend == "cpu") {
    for (const double us : {1.0, 1e3, 1e5, 1e7}) all.push_back(measured(file, us, std::nullopt, backend));
    return all;
  }
  for (const double share : {0.05, 0.3, 0.6, 0.95}) all.push_back(measured(file, 1000, 1000 * share));
  for (AttemptFacts facts : std::vector(all)) {  // the other bound
    facts.calibration->dram_read_gb_s = facts.calibration->dram_write_gb_s = facts.calibration->dram_copy_gb_s = 1e6;
    all.push_back(facts);
  }
  all.push_back(measured(file, 5, 1));
  all.push_back(measured(file, 1000, 300));
  all.back().calibration->multiprocessors = 1 << 30;
  all.push_back(measured(file, 1000, 300));
  all.back().spill_bytes = 80;
  std::vector<Counters> seen{counters_with(&Counters::dram, 0.7),      counters_with(&Counters::dram, 0.95),
                             counters_with(&Counters::tensor, 0.7),    counters_with(&Counters::tensor, 0.95),
                             counters_with(&Counters::compute, 0.8),   counters_with(&Counters::load_sectors, 30),
                             counters_with(&Counters::conflicts, 0.4), counters_with(&Counters::lanes, 9),
                             counters_with(&Counters::occupancy, 0.1)};
  seen.back().dram = seen.back().compute = 0.1;
  for (const char* stall : {"long_scoreboard", "short_scoreboard", "barrier", "mio_throttle", "lg_throttle",
                            "math_pipe_throttle", "membar", "no_instruction"}) {
    seen.emplace_back().stalls[stall] = 9;
  }
  for (const Counters& counters : seen) {
    all.push_back(measured(file, 1000, 300));
    all.back().measurement->counters = {counters};
  }
  return all;
}

TEST(Diagnosis, NoShippedKernelIsAdvisedToDoWhatItDoes) {
  std::map<Advice, int> given;
  int diagnosed_ones = 0, advised = 0;
  const std::filesystem::path folder = core::installed_paths().kernels();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cu") continue;
    const std::string file = std::filesystem::relative(entry.path(), folder).string();
    const sandbox::Solution solution = test::shipped_solution(file);
    std::set<Advice> follows;
    for (const auto& [advice, sign] : signs()) {
      if (std::regex_search(solution.source, std::regex(sign))) follows.insert(advice);
    }
    for (const std::string& backend : solution.backends) {
      if (backend == "hip") continue;
      for (const AttemptFacts& facts : situations(file, backend)) {
        const Diagnosis diagnosis = diagnosed(facts, backend);
        ++diagnosed_ones;
        if (!diagnosis.advice) continue;
        ++advised;
        ++given[*diagnosis.advice];
        EXPECT_FALSE(follows.contains(*diagnosis.advice))
            << file << " on " << backend << " is advised " << name_of(*diagnosis.advice) << ":\n"
            << diagnosis.text;
      }
    }
  }
  EXPECT_GT(advised, diagnosed_ones * 6 / 10) << diagnosed_ones;
  std::set<std::string> never;
  for (const std::string& name : core::enum_names<Advice>()) {
    if (given[*core::enum_from_name<Advice>(name)] == 0) never.insert(name);
  }
  EXPECT_THAT(never, ElementsAre("larger_products"));  // no shipped kernel lacks just that: see below
}

TEST(Diagnosis, AdviceGoesOnWhereTheSourceEnds) {
  AttemptFacts facts = measured("gemm_f16/tensor_cores.cu", 900, 150);
  facts.architecture = "sm_90";
  facts.solution.tunables.clear();
  const auto advice = [&](const std::string& source) {
    facts.solution.source = "__global__ void k() { __shared__ float tile[8]; asm(\"mma.sync\"); " + source + " }";
    return diagnosed(facts).advice;
  };
  EXPECT_EQ(advice(""), Advice::asynchronous_copies);
  EXPECT_EQ(advice("asm(\"cp.async.ca\"); constexpr int kStages = 2;"), Advice::more_stages);
  EXPECT_EQ(advice("asm(\"cp.async.ca\"); constexpr int kStages = 3;"), Advice::larger_products);
  EXPECT_EQ(advice("asm(\"cp.async.ca\"); float sums[4][8];"), Advice::bulk_copies);
  EXPECT_EQ(advice("asm(\"cp.async.bulk\"); float sums[4][8];"), Advice::persistent_blocks);
  EXPECT_EQ(advice("asm(\"cp.async.bulk\"); float sums[4][8]; gridDim.x;"), std::nullopt);
  EXPECT_THAT(diagnosed(facts).text, HasSubstr("try another structure"));
}

TEST(Diagnosis, TheLimitOnTheCpuDevice) {
  // 256 rows of 1024: a block of 256 threads each.
  AttemptFacts facts = measured("softmax_f32/row_in_registers.cu", 2000, std::nullopt, "cpu");
  EXPECT_EQ(diagnosed(facts, "cpu").bottlenecks[0], Bottleneck::barriers);
  facts.measurement->workloads[0].candidate_us = 1e6;  // then barriers cost little
  EXPECT_NE(diagnosed(facts, "cpu").bottlenecks[0], Bottleneck::barriers);
  EXPECT_EQ(diagnosed(measured("gelu_f32/float4_items.cu", 1, std::nullopt, "cpu"), "cpu").bottlenecks[0],
            Bottleneck::launch_bound);
  EXPECT_EQ(diagnosed(measured("gelu_f32/float4_items.cu", 1e4, std::nullopt, "cpu"), "cpu").bottlenecks[0],
            Bottleneck::compute_bound);  // erff
  EXPECT_EQ(diagnosed(measured("transpose_f32/register_tile.cu", 1e4, std::nullopt, "cpu"), "cpu").bottlenecks[0],
            Bottleneck::memory_bound);
}

TEST(Diagnosis, OnTheCpuDeviceItReliesOnTheSourceAlone) {
  AttemptFacts facts = measured("cross_entropy_f32/online_lanes.cu", 100, std::nullopt, "cpu");
  const auto limit = [&](const std::string& body) {
    facts.solution.source = "__global__ void k(const float* x, float* y) {\n" + body + "\n}\n";
    facts.solution.launches.clear();
    return diagnosed(facts, "cpu").text;
  };
  const std::string per_row = "for (int m = 0; m < 9; ++m) { for (int n = 0; n < 8; ++n) y[n] += x[n]; logf(y[m]); }";
  const std::string per_element = "for (int n = 0; n < 8; ++n) y[n] += expf(x[n]);";
  const std::string vectors = "typedef float float8 __attribute__((vector_size(32)));\n";
  facts.measurement->workloads[0].candidate_us = 1e5;
  EXPECT_THAT(limit(per_element), HasSubstr("An innermost loop calls functions"));
  EXPECT_THAT(limit(per_row), AllOf(Not(HasSubstr("expf")), HasSubstr("may run one element at a time")));
  EXPECT_THAT(limit(vectors + per_row), AllOf(HasSubstr("What limits it: Unknown"), HasSubstr("GFLOP/s")));
  EXPECT_THAT(limit(vectors + per_element), Not(HasSubstr("expf")));  // a vector loop has a tail of single elements
  facts.measurement->workloads[0].candidate_us = 1;  // too fast for a call per element, or for scalar code
  EXPECT_THAT(limit(per_element), HasSubstr("What limits it: Unknown"));
  facts.measurement.reset();
  EXPECT_THAT(limit(per_row), AllOf(HasSubstr("What limits it: Unknown"), Not(HasSubstr("GB/s"))));
}

}  // namespace
}  // namespace agent::prompting
