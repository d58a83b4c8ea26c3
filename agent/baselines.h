// Baselines: what people would otherwise use, timed by the judge's own rules and kept beside the solutions.
#pragma once

#include <string>
#include <vector>

#include "agent/devices.h"
#include "benchsuite/problem.h"
#include "core/paths.h"
#include "results/archive/recorder.h"

namespace agent {

enum class WhichBaselines {
  all,      // measured now, whatever the archive holds
  missing,  // those that the archive lacks for the problem as it is and the library's version
};

// Measures on the first GPU that `choice` means, with a cold L2 cache, and stores every finding, right or wrong. A
// library that this host lacks is left out with a line on what to do. Prints as it goes: lines, or JSON lines. Throws
// core::InputError for the cpu device, core::SystemError where there is no GPU.
void measure_baselines(results::archive::Recorder& archive, const core::Paths& paths, DeviceChoice choice,
                       const std::vector<const benchsuite::Problem*>& problems, WhichBaselines which, bool json);

// "softmax_f32, PyTorch 2.11 eager: 3.80x [3.79, 3.81] over naive, 278.6 us", or how it failed.
std::string baseline_text(const std::string& problem, const std::string& library,
                          const verifier::verdicts::Judgement& judgement);

}  // namespace agent
