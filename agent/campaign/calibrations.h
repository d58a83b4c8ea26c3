// Calibrations: measured peak rates of a device. The archive keeps them; bounds use the newest one.
#pragma once

#include <optional>
#include <string>

#include "agent/campaign/devices.h"
#include "core/paths.h"
#include "results/archive/recorder.h"

namespace agent::campaign {

// Measures a GPU with its own judge worker (a few seconds) and stores the result under "cuda <name of the GPU>". The
// GPU must be otherwise idle. Throws core::InputError for the cpu device, core::SystemError for our own failures.
verifier::verdicts::Calibration calibrate(results::archive::Recorder& archive, const core::Paths& paths,
                                          const DeviceChoice& choice);

// Returns the newest calibration recorded under `device` (DeviceSession::device); measures one if there is none.
// nullopt on the cpu device.
std::optional<verifier::verdicts::Calibration> newest_or_new_calibration(results::archive::Recorder& archive,
                                                                         const core::Paths& paths,
                                                                         const DeviceChoice& choice,
                                                                         const std::string& device);

}  // namespace agent::campaign
