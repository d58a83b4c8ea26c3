// Baselines: the libraries that people would otherwise use, timed by the judge's own rules and kept beside the
// solutions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/campaign/devices.h"
#include "benchsuite/problem.h"
#include "core/paths.h"
#include "results/archive/recorder.h"

namespace agent::campaign {

enum class WhichBaselines {
  all,      // measures even those already in the archive
  missing,  // those missing from the archive for this version of the problem and of the library
};

// Receives each measurement as it is made.
struct BaselineListener {
  std::function<void(const std::string& problem, const std::string& library, const verifier::verdicts::Judgement&)>
      measured;
  std::function<void(const std::string&)> warned;
};

// Measures on the first GPU of `choice`, with a cold L2 cache, and stores every finding, right or wrong. A library that
// this host lacks is left out with a warning that says what to do. Throws core::InputError for the cpu device,
// core::SystemError if there is no GPU.
void measure_baselines(results::archive::Recorder& archive, const core::Paths& paths, DeviceChoice choice,
                       const std::vector<const benchsuite::Problem*>& problems, WhichBaselines which,
                       const BaselineListener& listener);

}  // namespace agent::campaign
