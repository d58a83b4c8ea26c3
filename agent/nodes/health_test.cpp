#include "agent/nodes/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace agent::nodes {
namespace {
using core::Json;
using testing::HasSubstr;
using testing::IsEmpty;

std::string unfit(const Json& health, double value, verifier::statistics::Outcome outcome, bool on_gpu = true) {
  verifier::verdicts::Judgement control;
  control.measurement.emplace();
  control.measurement->speed_up = {value, value - 0.001, value + 0.001};
  control.measurement->outcome = outcome;
  return why_unfit(core::JsonView(health, "health"), control, on_gpu);
}

TEST(Health, NaiveAgainstItselfMustTieOnAGpu) {
  using verifier::statistics::Outcome;
  EXPECT_THAT(unfit(Json::object(), 1.0, Outcome::tie), IsEmpty());
  EXPECT_THAT(unfit(Json::object(), 1.05, Outcome::tie), IsEmpty());
  EXPECT_THAT(unfit(Json::object(), 1.01, Outcome::win), IsEmpty());
  EXPECT_THAT(unfit(Json::object(), 1.05, Outcome::win, false), IsEmpty()) << "processors are shared";
  EXPECT_EQ(unfit(Json::object(), 1.05, Outcome::win),
            "naive timed against itself gave 1.050x [1.049, 1.051] instead of 1");
  EXPECT_THAT(unfit(Json::object(), 0.9, Outcome::loss), HasSubstr("gave 0.900x"));
}

TEST(Health, ErrorsOfTheMemoryAndSlowHardwareCount) {
  using verifier::statistics::Outcome;
  EXPECT_THAT(unfit({{"memory_errors", 0}, {"slowed", ""}}, 1, Outcome::tie), IsEmpty());
  EXPECT_EQ(unfit({{"memory_errors", 1}, {"slowed", ""}}, 1, Outcome::tie),
            "its memory had 1 error that could not be corrected");
  EXPECT_EQ(unfit({{"memory_errors", 0}, {"slowed", "it is too hot"}}, 1, Outcome::tie),
            "its clock is held back: it is too hot");
  EXPECT_THROW(unfit({{"memory_errors", "many"}}, 1, Outcome::tie), core::InputError);
}

}  // namespace
}  // namespace agent::nodes
