// Baselines: the libraries that people would otherwise use, timed by the judge's own rules and kept beside the
// solutions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/campaign/devices.h"
#include "agent/campaign/libraries.h"
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
  // `mode`: the fastest one of torch.compile, "" for other libraries.
  std::function<void(const std::string& problem, const std::string& library, const std::string& mode,
                     const verifier::verdicts::Judgement&)>
      measured;
  std::function<void(const std::string&)> warned;
};

// The judgement of torch.compile in one of its modes.
struct OfMode {
  std::string mode;
  verifier::verdicts::Judgement judgement;
};
// The fastest correct one; the first one where none is correct. `modes` is not empty.
const OfMode& fastest(const std::vector<OfMode>& modes);

// torch.compile is measured in each of its modes, or for a campaign in its default one, since tuning takes minutes; the
// environment of the record names the fastest ("torch_compile_mode"). `own`: libraries of the user's, of the only
// problem; measured even if they are in the archive, since their files may have changed. Measures on the first GPU of
// `choice`, with a cold L2 cache, and stores every finding, right or wrong. A library that this host lacks is left out
// with a warning that says what to do. Throws core::InputError for the cpu device, and where there are own libraries
// for several problems, core::SystemError if there is no GPU.
void measure_baselines(results::archive::Recorder& archive, const core::Paths& paths, DeviceChoice choice,
                       const std::vector<const benchsuite::Problem*>& problems, const std::vector<OwnLibrary>& own,
                       WhichBaselines which, const BaselineListener& listener);

}  // namespace agent::campaign
