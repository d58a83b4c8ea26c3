#include "agent/prompting/counter_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verifier/verdicts/counters_fixture.h"

namespace agent::prompting {
namespace {
using testing::HasSubstr;
using verifier::verdicts::parse_counters;
using verifier::verdicts::test::counters_report;

const std::string kTime = "gpu__time_duration.sum", kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed",
                  kCompute = "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                  kTensorPipe = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                  kLoads = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
                  kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active",
                  kLanes = "smsp__thread_inst_executed_per_inst_executed.ratio",
                  kRegisters = "launch__registers_per_thread",
                  kConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                  kPasses = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                  kBarrier = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
                  kMemory = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";

std::vector<CounterFinding> findings(const std::map<std::string, std::string>& values) {
  return findings_in(parse_counters(counters_report({values})));
}

TEST(CounterFindings, EachBottleneckHasItsSentence) {
  struct Case {
    std::map<std::string, std::string> values;
    Bottleneck of;
    std::string words;
  };
  for (const Case& one :
       std::vector<Case>{{{{kDram, "92.1"}}, Bottleneck::memory_bound, "busy at 92"},
                         {{{kCompute, "85"}, {kTensorPipe, "0"}}, Bottleneck::compute_bound, "tensor cores idle"},
                         {{{kTensorPipe, "75"}}, Bottleneck::compute_bound, "tensor cores are busy 75"},
                         {{{kLoads, "31.2"}}, Bottleneck::uncoalesced, "global load touches 31.2 sectors"},
                         {{{kConflicts, "1,000"}, {kPasses, "2,000"}}, Bottleneck::bank_conflicts, "50"},
                         {{{kLanes, "9.5"}}, Bottleneck::divergence, "9.5 of 32 lanes"},
                         {{{kBarrier, "6"}, {kMemory, "2"}}, Bottleneck::barriers, "75 % of the cycles"},
                         {{{kBarrier, "1"}, {kMemory, "9"}}, Bottleneck::latency_bound, "global memory"},
                         {{{kOccupancy, "12"}, {kDram, "20"}, {kCompute, "15"}, {kRegisters, "255"}},
                          Bottleneck::occupancy,
                          "255 registers"}}) {
    const std::vector<CounterFinding> found = findings(one.values);
    ASSERT_EQ(found.size(), 1u) << one.words;
    EXPECT_EQ(name_of(found[0].of), name_of(one.of)) << found[0].sentence;
    EXPECT_THAT(found[0].sentence, HasSubstr(one.words));
    EXPECT_EQ(found[0].sentence.back(), '.');
  }
}

TEST(CounterFindings, GoodFiguresSayNothing) {
  EXPECT_TRUE(findings({{kDram, "45"},
                        {kCompute, "50"},
                        {kLoads, "15.9"},
                        {kLanes, "31.5"},
                        {kConflicts, "10"},
                        {kPasses, "2000"},
                        {kOccupancy, "20"},
                        {kMemory, "0.5"}})
                  .empty());
  EXPECT_TRUE(findings_in({}).empty());
}

TEST(CounterFindings, TheLongestLaunchSpeaksAndTheMostTellingFirst) {
  const auto found = findings_in(parse_counters(counters_report({{{kTime, "10"}, {kLanes, "2"}},
                                                                 {{kTime, "900"}, {kDram, "95"}, {kLoads, "20"}},
                                                                 {{kTime, "20"}, {kTensorPipe, "99"}}})));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].of, Bottleneck::memory_bound);
  EXPECT_EQ(found[1].of, Bottleneck::uncoalesced);
}

}  // namespace
}  // namespace agent::prompting
