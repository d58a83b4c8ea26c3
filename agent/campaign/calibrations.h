// Calibrations: what a device reached when it was measured. Kept in the archive; the newest is what bounds are made of.
#pragma once

#include <optional>
#include <string>

#include "agent/campaign/devices.h"
#include "core/paths.h"
#include "results/archive/recorder.h"

namespace agent::campaign {

// Measures a GPU with a judge worker of its own, a few seconds, and stores the result under "cuda <name of the GPU>".
// Nothing else may be busy on it meanwhile. Throws core::InputError for the cpu device, core::SystemError.
verifier::verdicts::Calibration calibrate(results::archive::Recorder& archive, const core::Paths& paths,
                                          const DeviceChoice& choice);

// The newest of the device that results are kept under `device` for (DeviceSession::device); measured now when there is
// none. Nothing on the cpu device.
std::optional<verifier::verdicts::Calibration> newest_or_new_calibration(results::archive::Recorder& archive,
                                                                         const core::Paths& paths,
                                                                         const DeviceChoice& choice,
                                                                         const std::string& device);

}  // namespace agent::campaign
