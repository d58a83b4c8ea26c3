#include "agent/nodes/health.h"

#include <fmt/format.h>

#include <cmath>

#include "core/text.h"

namespace agent::nodes {
namespace {
constexpr double kMostOff = 0.02;  // of naive against itself; a sound GPU is within 0.005
constexpr size_t kReasonBytes = 200;
}  // namespace

std::string why_unfit(const core::JsonView& health, const verifier::verdicts::Judgement& control, bool on_gpu) {
  if (health.has("memory_errors")) {
    if (const int64_t errors = health.at("memory_errors").integer(0); errors > 0) {
      return fmt::format("its memory had {} error{} that could not be corrected", errors, errors == 1 ? "" : "s");
    }
  }
  if (health.has("slowed")) {
    const std::string slowed = core::clean_line(health.at("slowed").string(), kReasonBytes);
    if (!slowed.empty()) return "its clock is held back: " + slowed;
  }
  if (!on_gpu || !control.measurement || control.measurement->outcome == verifier::statistics::Outcome::tie) return "";
  const verifier::statistics::SpeedUp& ratio = control.measurement->speed_up;
  if (std::abs(ratio.value - 1) < kMostOff) return "";
  return fmt::format("naive timed against itself gave {:.3f}x [{:.3f}, {:.3f}] instead of 1", ratio.value, ratio.low,
                     ratio.high);
}

}  // namespace agent::nodes
