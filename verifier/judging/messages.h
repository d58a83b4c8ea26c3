// The agent's questions to a judge worker, as they travel; the same on every device.
#pragma once

#include "core/strict_json.h"
#include "sandbox/solution.h"
#include "verifier/draws/source/numbers.h"
#include "verifier/verdicts/judgement.h"

namespace verifier::judging {

core::Json to_json(const verdicts::CheckSettings& settings);
verdicts::CheckSettings check_settings_from_json(const core::JsonView& json);
core::Json to_json(const verdicts::TimingSettings& settings);
verdicts::TimingSettings timing_settings_from_json(const core::JsonView& json);

// A candidate's launch plan without its device code.
struct NamedPlan {
  sandbox::Solution solution;  // its source is empty
  sandbox::TunableBinding binding;
  draws::source::SourceNumbers numbers;
};
core::Json plan_json(const sandbox::Solution& solution, const sandbox::TunableBinding& binding);
NamedPlan plan_from_json(const core::JsonView& json, const std::string& name);

}  // namespace verifier::judging
