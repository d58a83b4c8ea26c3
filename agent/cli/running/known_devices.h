// GPUs whose facts and calibration ship with the program, so that prompts and estimates can be seen without one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/prompting/facts.h"
#include "core/paths.h"

namespace agent::cli::running {

// Those of prompts/devices/*.json, in order of their files' names. Each has a calibration, which says when it was made.
std::vector<prompting::DeviceText> known_devices(const core::Paths& paths);

// The one that is called so: "NVIDIA H200", "h200", or by its architecture, "sm_90a" or "sm_90". nullopt: none is.
std::optional<prompting::DeviceText> find_known_device(const core::Paths& paths, const std::string& name);

// The names of all, for messages: "NVIDIA H200 (sm_90a)".
std::string known_device_names(const core::Paths& paths);

}  // namespace agent::cli::running
