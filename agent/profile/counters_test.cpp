#include "agent/profile/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"

namespace agent {
namespace {
using testing::HasSubstr;

// What Nsight Compute prints for these values by metric: a line of names, one of units, and one a launch.
std::string report(const std::vector<std::map<std::string, std::string>>& launches) {
  std::string names = R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream")",
              units = R"("","","","","","","")";
  for (const std::string& metric : counter_metrics()) {
    names += ",\"" + metric + "\"";
    units += ",\"%\"";
  }
  std::string text = "==PROF== Connected to process 1234\n==PROF== Disconnected\n" + names + "\n" + units + "\n";
  int id = 0;
  for (const auto& values : launches) {
    text += "\"" + std::to_string(id++) + R"x(","1234","kernelwright-cuda","127.0.0.1","k(float*, int)","1","7")x";
    for (const std::string& metric : counter_metrics()) {
      const auto value = values.find(metric);
      text += ",\"" + (value == values.end() ? "n/a" : value->second) + "\"";
    }
    text += "\n";
  }
  return text;
}
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
  return findings_in(parse_counters(report({values})));
}

TEST(Counters, AreReadFromATable) {
  const auto launches = parse_counters(
      "==PROF== Profiling \"softmax\" - 0: 0%....50%....100% - 9 passes\n"
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"gpu__time_duration.sum\","
      "\"dram__throughput.avg.pct_of_peak_sustained_elapsed\",\"lts__t_sector_hit_rate.pct\",\"launch__registers_per_"
      "thread\"\r\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"nsecond\",\"%\",\"%\",\"register/thread\"\r\n"
      "\"0\",\"77\",\"a \"\"b\"\"\",\"127.0.0.1\",\"softmax(const float *, float *)\",\"(256, 1, 1)\",\"12,345.00\","
      "\"83.5\",\"n/a\",\"40\"\r\n"
      "1,77,a,127.0.0.1,row_sum,,2000,12.5,50,16\n");
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].kernel, "softmax(const float *, float *)");
  EXPECT_DOUBLE_EQ(launches[0].time.value(), 12345);
  EXPECT_DOUBLE_EQ(launches[0].dram.value(), 0.835);
  EXPECT_FALSE(launches[0].l2_hits);
  EXPECT_FALSE(launches[0].occupancy);
  EXPECT_DOUBLE_EQ(launches[0].registers.value(), 40);
  EXPECT_EQ(launches[1].kernel, "row_sum");
  EXPECT_DOUBLE_EQ(launches[1].l2_hits.value(), 0.5);
}

TEST(Counters, EveryMetricIsAskedForOnce) {
  const std::vector<std::string> names = counter_metrics();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(Counters, WhatIsNoTableIsRefused) {
  for (const std::string text : {"", "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", "\"ID\",\"x\"",
                                 "\"ID\",\"x\"\n\"\",\"%\"\n", "\"ID\",\"x\"\n\"0\"\n\"0\",\"1\",\"2\"\n",
                                 "\"ID\",\"x\"\n\"abc,\"\"\n\xff\x1b[2J,\n"}) {
    EXPECT_THROW(parse_counters(text), core::InputError) << text;
  }
  try {
    parse_counters("==ERROR== ERR_NVGPUCTRPERM\n\x1b[2J");
  } catch (const core::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("ERR_NVGPUCTRPERM"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("\x1b")));
  }
}

TEST(Counters, OddNumbersAreAbsent) {
  for (const std::string value : {"nan", "-5", "1e300", "", "12%", "0x10", "inf"}) {
    EXPECT_FALSE(parse_counters(report({{{kDram, value}}}))[0].dram) << value;
  }
}

TEST(Counters, EachBottleneckHasItsSentence) {
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

TEST(Counters, GoodFiguresSayNothing) {
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

TEST(Counters, TheLongestLaunchSpeaksAndTheMostTellingFirst) {
  const auto found = findings_in(parse_counters(report({{{kTime, "10"}, {kLanes, "2"}},
                                                        {{kTime, "900"}, {kDram, "95"}, {kLoads, "20"}},
                                                        {{kTime, "20"}, {kTensorPipe, "99"}}})));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].of, Bottleneck::memory_bound);
  EXPECT_EQ(found[1].of, Bottleneck::uncoalesced);
}

}  // namespace
}  // namespace agent
