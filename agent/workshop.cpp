#include "agent/workshop.h"

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "agent/devices.h"

namespace agent {
namespace {
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

const std::string& known(const std::string& device) {
  require_device(device);
  return device;
}
}  // namespace

Workshop::Workshop(const core::Paths& paths, const std::string& device, int compile_workers)
    : device_(known(device)), pool_(cpu_worker(paths), compile_workers), judge_(cpu_worker(paths), {}) {}

core::Json Workshop::environment() const {
  utsname system{};
  ::uname(&system);
  const core::Json& compiler = pool_.greeting();
  const core::Json& jail = judge_.run_greeting();
  return {{"program", KW_VERSION},
          {"device", device_},
          {"processor", processor_name()},
          {"machine", system.machine},
          {"cores", std::thread::hardware_concurrency()},
          {"kernel", system.release},
          {"compiler", compiler.at("compiler_version")},
          {"sandbox_level", jail.at("sandbox_level")},
          {"sandbox", jail.at("sandbox")}};
}

int background_compile_workers() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1); }

}  // namespace agent
