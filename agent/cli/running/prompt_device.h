// The device that a prompt or an estimate is for: one of this host, or a known one that is not here.
#pragma once

#include <optional>
#include <string>

#include "agent/cli/invocation.h"
#include "agent/prompting/facts.h"
#include "core/paths.h"
#include "results/archive/reader.h"

namespace agent::cli::running {

struct PromptDevice {
  prompting::DeviceText text;
  std::string kind;    // DeviceChoice::kind
  std::string source;  // where its facts come from, where that is not this host; else empty
};

// `device`: as --device takes it, or the name of a known one ("NVIDIA H200"); `architecture`: of a known one
// ("sm_90a"), or empty. Throws core::InputError when there is no such device here and none is known.
PromptDevice prompt_device(const core::Paths& paths, const results::archive::Reader& archive, const std::string& device,
                           const std::string& architecture);

// The known device that these name; nullopt where they name one of this host, or none. Throws as above.
std::optional<prompting::DeviceText> known_device_of(const core::Paths& paths, const std::string& device,
                                                     const std::string& architecture);

}  // namespace agent::cli::running
