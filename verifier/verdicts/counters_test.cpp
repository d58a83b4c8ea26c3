#include "verifier/verdicts/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "verifier/verdicts/counters_fixture.h"

namespace verifier::verdicts {
namespace {
using testing::HasSubstr;

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
    EXPECT_FALSE(
        parse_counters(test::counters_report({{{"dram__throughput.avg.pct_of_peak_sustained_elapsed", value}}}))[0]
            .dram)
        << value;
  }
}

TEST(Counters, AreStoredAsTheyAre) {
  std::map<std::string, std::string> values;
  int n = 0;
  for (const std::string& metric : counter_metrics()) values[metric] = std::to_string(++n);
  for (const Counters& launch : parse_counters(test::counters_report({values, {{counter_metrics()[1], "20"}}}))) {
    const core::Json json = to_json(launch);
    EXPECT_EQ(to_json(counters_from_json(core::JsonView(json, "test"))), json);
  }
  Counters at_a_workload;
  at_a_workload.workload = "bench_4096";
  const core::Json json = to_json(at_a_workload);
  EXPECT_EQ(counters_from_json(core::JsonView(json, "counters")).workload, "bench_4096");
  EXPECT_FALSE(to_json(Counters()).contains("workload"));  // as earlier versions wrote it
}

}  // namespace
}  // namespace verifier::verdicts
