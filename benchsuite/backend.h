// The kinds of devices that problems and solutions name. A new one is a row of kBackends; ARCHITECTURE.md lists the
// files that implement it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.h"

namespace benchsuite {

enum class Backend { cpu, cuda, hip };
KW_ENUM_NAMES(Backend, cpu, cuda, hip)

struct BackendTraits {
  Backend backend;
  bool gpu;     // has one build of a candidate and calibrated rates; else candidates are processes of the host
  bool judged;  // has a device in this version: its candidates can be judged
};
inline constexpr BackendTraits kBackends[] = {
    {Backend::cpu, false, true}, {Backend::cuda, true, true}, {Backend::hip, true, true}};

constexpr const BackendTraits& traits_of(Backend backend) { return kBackends[static_cast<size_t>(backend)]; }
constexpr bool is_gpu(Backend backend) { return traits_of(backend).gpu; }

inline std::vector<std::string> backend_names() { return core::enum_names<Backend>(); }
// Names of those that this version judges on.
inline std::vector<std::string> judged_backends() {
  std::vector<std::string> names;
  for (const BackendTraits& row : kBackends) {
    if (row.judged) names.emplace_back(name_of(row.backend));
  }
  return names;
}

// The backend of a device: "cuda:1" and "cpu-hip" as --device says it, "cuda NVIDIA H200" as the archive does. nullopt
// for others.
constexpr std::optional<Backend> backend_of(std::string_view device) {
  return core::enum_from_name<Backend>(device.substr(0, device.find_first_of(": -")));
}

}  // namespace benchsuite
