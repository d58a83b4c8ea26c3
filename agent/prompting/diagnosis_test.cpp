#include "agent/prompting/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

AttemptFacts measured(const std::string& file, double us, std::optional<double> bound_us) {
  AttemptFacts facts = facts_of(verifier::verdicts::Correct{10, 0.2, true}, file);
  facts.against = "naive";
  facts.bound_by_compute = false;
  facts.launch_floor_us = 2.8;
  facts.registers = 40;
  facts.spill_bytes = 0;
  verifier::verdicts::WorkloadTiming timing{"bench_1", {}, us, 2 * us, {2, 1.9, 2.1}, bound_us};
  facts.measurement = verifier::verdicts::Measurement{"gpu", {timing}, {2, 1.9, 2.1}};
  return facts;
}

TEST(Diagnosis, ACorrectAttemptGetsItsTimeAndOneLimit) {
  const Diagnosis near = diagnosed(measured("softmax_f32/row_in_registers.cu", 134.06, 117));
  EXPECT_TRUE(near.correct);
  EXPECT_THAT(near.text, HasSubstr("bench_1: 134.1 us, 87 % of the bound; 2.00x [1.90x, 2.10x] against naive\n"));
  EXPECT_THAT(near.text, HasSubstr("It uses 40 registers per thread, no spills.\n"));
  EXPECT_THAT(near.text, HasSubstr("What limits it: It runs at 87 % of the device's peak"));
  EXPECT_THAT(near.bottlenecks, ElementsAre(Bottleneck::memory_bound));
}

TEST(Diagnosis, TheLimitOnAGpu) {
  const std::string softmax = "softmax_f32/row_in_registers.cu", tile = "transpose_f32/shared_tile.cu";
  AttemptFacts facts = measured(softmax, 300, 117);
  EXPECT_EQ(diagnosed(facts).bottlenecks[0], Bottleneck::latency_bound);  // it has wide loads
  EXPECT_EQ(diagnosed(measured(tile, 300, 117)).bottlenecks[0], Bottleneck::uncoalesced);
  facts.occupancy = 0.2;
  EXPECT_EQ(diagnosed(facts).bottlenecks[0], Bottleneck::occupancy);
  facts.counters = {{Bottleneck::bank_conflicts, "Half of the shared loads conflict."}};
  EXPECT_THAT(diagnosed(facts).text, HasSubstr("What limits it: Half of the shared loads conflict.\n"));
  facts.spill_bytes = 64;
  EXPECT_EQ(diagnosed(facts).bottlenecks[0], Bottleneck::spills);
  EXPECT_EQ(diagnosed(measured(softmax, 5, 1)).bottlenecks[0], Bottleneck::launch_bound);
  EXPECT_THAT(diagnosed(measured(softmax, 300, std::nullopt)).text, HasSubstr("is unknown"));
  EXPECT_EQ(diagnosed(measured("histogram_i32/shared_copies.cu", 300, 60)).bottlenecks[0], Bottleneck::atomics);

  AttemptFacts gemm = measured("gemm_f16/register_tile.cu", 3000, 150);
  gemm.bound_by_compute = true;
  EXPECT_EQ(diagnosed(gemm).bottlenecks[0], Bottleneck::tensor_cores);
  EXPECT_THAT(diagnosed(gemm).text, HasSubstr("does not use them"));
  gemm = measured("gemm_f16/tensor_cores.cu", 900, 150);
  gemm.bound_by_compute = true;
  EXPECT_THAT(diagnosed(gemm).text, HasSubstr("wait for their operands"));
  gemm = measured("gemm_f32/register_tile.cu", 3200, 2000);
  gemm.bound_by_compute = true;
  EXPECT_EQ(diagnosed(gemm).bottlenecks[0], Bottleneck::compute_bound);
}

TEST(Diagnosis, TheLimitOnTheCpuDevice) {
  // 256 rows of 1024: a block of 256 threads each.
  AttemptFacts facts = measured("softmax_f32/row_in_registers.cu", 2000, std::nullopt);
  EXPECT_EQ(diagnosed(facts, "cpu").bottlenecks[0], Bottleneck::barriers);
  facts.measurement->workloads[0].candidate_us = 1e6;  // then barriers cost little
  EXPECT_NE(diagnosed(facts, "cpu").bottlenecks[0], Bottleneck::barriers);
  EXPECT_EQ(diagnosed(measured("gelu_f32/float4_items.cu", 1, std::nullopt), "cpu").bottlenecks[0],
            Bottleneck::launch_bound);
  EXPECT_EQ(diagnosed(measured("gelu_f32/float4_items.cu", 1e4, std::nullopt), "cpu").bottlenecks[0],
            Bottleneck::compute_bound);  // erff
  EXPECT_EQ(diagnosed(measured("transpose_f32/register_tile.cu", 1e4, std::nullopt), "cpu").bottlenecks[0],
            Bottleneck::memory_bound);
}

TEST(Diagnosis, OnTheCpuDeviceItReliesOnTheSourceAlone) {
  AttemptFacts facts = measured("cross_entropy_f32/online_lanes.cu", 100, std::nullopt);
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
