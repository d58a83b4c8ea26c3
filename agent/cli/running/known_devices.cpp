#include "agent/cli/running/known_devices.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "agent/campaign/device_text.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::cli::running {
namespace {
std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_called(const prompting::DeviceText& device, const std::string& name) {
  const std::string wanted = lower(name), full = lower(device.name);
  return !wanted.empty() && (wanted == full || full.ends_with(" " + wanted) || wanted == device.architecture ||
                             wanted + "a" == device.architecture);
}
}  // namespace

std::vector<prompting::DeviceText> known_devices(const core::Paths& paths) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(paths.prompts() / "devices")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<prompting::DeviceText> devices;
  for (const std::filesystem::path& file : files) {
    const core::Json json = core::parse_json(core::read_file(file), file.string());
    devices.push_back(campaign::device_text_from_json(core::JsonView(json, file.string())));
    if (!devices.back().calibration) throw core::InputError(file.string(), "has no calibration");
  }
  return devices;
}

std::optional<prompting::DeviceText> find_known_device(const core::Paths& paths, const std::string& name) {
  for (prompting::DeviceText& device : known_devices(paths)) {
    if (is_called(device, name)) return std::move(device);
  }
  return std::nullopt;
}

std::string known_device_names(const core::Paths& paths) {
  std::vector<std::string> names;
  for (const prompting::DeviceText& device : known_devices(paths)) {
    names.push_back(device.name + " (" + device.architecture + ")");
  }
  return core::join(names, ", ");
}

}  // namespace agent::cli::running
