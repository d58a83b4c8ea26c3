// What a prompt says of the device that candidates run on.
#pragma once

#include <optional>

#include "agent/prompting/facts.h"
#include "agent/workshop.h"
#include "verifier/calibration.h"

namespace agent {

DeviceText device_text(const Workshop& workshop, const std::optional<verifier::Calibration>& calibration);

}  // namespace agent
