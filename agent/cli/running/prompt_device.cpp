#include "agent/cli/running/prompt_device.h"

#include "agent/campaign/device_session.h"
#include "agent/campaign/device_text.h"
#include "agent/cli/running/known_devices.h"
#include "core/error.h"

namespace agent::cli::running {
namespace {
std::string source_of(const prompting::DeviceText& device) {
  return "The facts of " + device.name + " ship with kernelwright; its rates were measured on one on " +
         device.calibration->made.substr(0, 10) + ". No GPU was used.";
}

bool is_of_this_host(const std::string& device) {
  try {
    campaign::parse_device(device);
    return true;
  } catch (const core::UsageError&) {
    return false;
  }
}
}  // namespace

std::optional<prompting::DeviceText> known_device_of(const core::Paths& paths, const std::string& device,
                                                     const std::string& architecture) {
  if (architecture.empty()) return is_of_this_host(device) ? std::nullopt : find_known_device(paths, device);
  if (auto known = find_known_device(paths, architecture)) return known;
  throw core::InputError("--arch", "no device of architecture " + architecture + " is known",
                         "known are: " + known_device_names(paths));
}

PromptDevice prompt_device(const core::Paths& paths, const results::archive::Reader& archive, const std::string& device,
                           const std::string& architecture) {
  if (auto known = known_device_of(paths, device, architecture)) {
    const std::string kind = known->backend, source = source_of(*known);
    return {std::move(*known), kind, source};
  }
  if (!is_of_this_host(device)) {
    throw core::UsageError("--device", "\"" + device + "\" is neither a device of this version nor a GPU that it knows",
                           "use cpu, cuda, hip, or one of those that it knows: " + known_device_names(paths));
  }
  const campaign::DeviceChoice choice = campaign::parse_device(device);
  const campaign::DeviceSession session(paths, choice, false, 1);
  return {campaign::device_text(session, archive.newest_calibration(session.device())), choice.kind(), ""};
}

}  // namespace agent::cli::running
