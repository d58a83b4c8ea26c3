#include "agent/cli/attempt_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agent::cli {
namespace {
using testing::HasSubstr;
using testing::Not;

verifier::verdicts::Measurement measured() {
  verifier::verdicts::Measurement m{"cuda", {}, {2, 1.9, 2.1}, verifier::statistics::Outcome::win, false};
  m.workloads.push_back({"large", {{100, 200, true}, {100, 200, false}, {100, 200, true}}, 100, 200, {2, 2, 2}});
  m.workloads.push_back({"small", {{10, 20, true}}, 10, 20, {2, 2, 2}});
  return m;
}

TEST(Views, AMeasurementShowsItsShareOfTheBound) {
  verifier::verdicts::Measurement m = measured();
  m.workloads[0].bound_us = 71;
  EXPECT_THAT(measurement_text(m, "naive"), HasSubstr("71 % of the bound (71.0 us)"));
  EXPECT_EQ(to_json(m)["workloads"][0]["bound_us"], 71);
}

TEST(Views, WhereNoBoundIsKnownNoneIsShown) {
  EXPECT_THAT(measurement_text(measured(), "naive"), Not(testing::ContainsRegex("BOUND|bound")));
}

TEST(Views, AMeasurementShowsWeightsWhereOneIsNot1) {
  verifier::verdicts::Measurement m = measured();
  EXPECT_THAT(measurement_text(m, "naive"), Not(HasSubstr("WEIGHT")));
  m.workloads[1].weight = 2.5;
  EXPECT_THAT(measurement_text(m, "naive"), testing::ContainsRegex("WEIGHT\n +large .* 1\n +small .* 2.5\n"));
  EXPECT_EQ(to_json(m)["workloads"][1]["weight"], 2.5);
}

TEST(Views, SamplesRecordTheirOutcome) {
  verifier::verdicts::Measurement m = measured();
  EXPECT_THAT(measurement_text(m, "naive"), HasSubstr("3 pairs\n"));
  m.workloads[0].pairs[1].candidate_mhz = 1980;
  m.workloads[0].pairs[1].incumbent_mhz = 1900;
  m.workloads[0].pairs[2].throttled = true;
  EXPECT_THAT(measurement_text(m, "naive"), HasSubstr("3 pairs, 1 left out for their clocks, 1 throttled\n"));
}

}  // namespace
}  // namespace agent::cli
