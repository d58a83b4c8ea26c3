#include "agent/workshop.h"

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "agent/devices.h"

namespace agent {
namespace {
constexpr double kLaunchDeadline_s = 1;  // on a GPU: the slowest plain kernel takes a tenth of it

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

verifier::JudgeSettings settings_for(const DeviceChoice& choice, bool hot) {
  verifier::JudgeSettings settings;
  if (choice.backend == "cuda") settings.check.launch_deadline_s = kLaunchDeadline_s;
  settings.timing.hot = hot;
  return settings;
}

std::string label_of(const DeviceChoice& choice, const verifier::Judge& judge) {
  return choice.backend == "cpu" ? "cpu" : choice.backend + " " + judge.greeting().at("gpu").get<std::string>();
}

sandbox::WorkerCommand compile_worker(const core::Paths& paths, const DeviceChoice& choice,
                                      const verifier::Judge& judge) {
  if (choice.backend == "cpu") return cpu_worker(paths);
  return cuda_compile_worker(paths, judge.greeting().at("architecture").get<std::string>());
}
}  // namespace

Workshop::Workshop(const core::Paths& paths, const DeviceChoice& choice, bool hot, int compile_workers)
    : hot_(hot),
      judge_(judged_device(paths, choice.backend, choice.index), settings_for(choice, hot)),
      device_(label_of(choice, judge_)),
      pool_(compile_worker(paths, choice, judge_), compile_workers) {}

core::Json Workshop::environment() const {
  utsname system{};
  ::uname(&system);
  const core::Json& compiler = pool_.greeting();
  const core::Json& jail = judge_.run_greeting();
  core::Json facts{{"program", KW_VERSION},
                   {"device", device_},
                   {"processor", processor_name()},
                   {"machine", system.machine},
                   {"cores", std::thread::hardware_concurrency()},
                   {"kernel", system.release},
                   {"compiler", compiler.at("compiler_version")},
                   {"sandbox_level", jail.at("sandbox_level")},
                   {"sandbox", jail.at("sandbox")}};
  const core::Json& gpu = judge_.greeting();
  for (const char* fact : {"gpu", "architecture", "driver", "memory_bytes", "multiprocessors"}) {
    if (gpu.contains(fact)) facts[fact] = gpu.at(fact);
  }
  return facts;
}

int background_compile_workers() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1); }

}  // namespace agent
