// Calibrations and baselines as text.
#pragma once

#include <string>

#include "agent/campaign/baselines.h"
#include "verifier/verdicts/calibration.h"

namespace agent::cli {

// One line for the device and one for each figure.
std::string calibration_text(const verifier::verdicts::Calibration& calibration);

// "softmax_f32, PyTorch 2.11 eager: 3.80x [3.79, 3.81] over naive, 278.6 us", or how it failed.
std::string baseline_text(const std::string& problem, const std::string& library,
                          const verifier::verdicts::Judgement& judgement);

// Prints each baseline as it is measured: a line, or a JSON line.
campaign::BaselineListener print_baselines(bool json);

}  // namespace agent::cli
