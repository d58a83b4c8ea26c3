// Describes, for a prompt, the device that candidates run on.
#pragma once

#include <optional>

#include "agent/campaign/device_session.h"
#include "agent/prompting/facts.h"
#include "verifier/verdicts/calibration.h"

namespace agent::campaign {

prompting::DeviceText device_text(const DeviceSession& session,
                                  const std::optional<verifier::verdicts::Calibration>& calibration);

// For the archive, so that a resumed or replayed campaign describes its device in the same words.
core::Json to_json(const prompting::DeviceText& text);
prompting::DeviceText device_text_from_json(const core::JsonView& json);

}  // namespace agent::campaign
