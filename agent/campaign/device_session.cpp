#include "agent/campaign/device_session.h"

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "agent/campaign/devices.h"
#include "core/error.h"
#include "core/text.h"
#include "sandbox/hip/compiler/compiler.h"

namespace agent::campaign {
namespace {
constexpr int kMostProfilerFailures = 3;   // in a row: a kernel may be beyond it, and then it does not work at all
constexpr double kLaunchDeadline_s = 1.5;  // on a GPU: the slowest plain kernel takes a tenth of it

// Empty if there is none.
std::string cpuinfo() {
  std::ifstream file("/proc/cpuinfo");
  return {std::istreambuf_iterator<char>(file), {}};
}

// The value of the first line that begins with `name`.
std::string cpuinfo_value(std::string_view cpuinfo, std::string_view name) {
  for (const std::string& line : core::split(std::string(cpuinfo), '\n')) {
    const size_t colon = line.find(": ");
    if (line.rfind(name, 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

verifier::judging::JudgeSettings settings_for(const DeviceChoice& choice, bool hot) {
  verifier::judging::JudgeSettings settings;
  if (benchsuite::is_gpu(choice.backend)) {  // a GPU's clock is much steadier than the cpu device's
    settings.check.launch_deadline_s = kLaunchDeadline_s;
    settings.timing.clear_pairs = 4;
    settings.timing.most_pairs = 121;
    settings.timing.confirm_half_width = 0.002;
  }
  settings.timing.hot = hot;
  return settings;
}

// The GPUs of a choice. Those of one campaign must be alike: their results count as one device's.
std::vector<verifier::judging::JudgedDevice> devices_of(const core::Paths& paths, const DeviceChoice& choice) {
  if (!choice.all) return {judged_device(paths, choice.backend, choice.index)};
  std::vector<verifier::judging::JudgedDevice> devices;
  const std::vector<sandbox::gpu::driver::DeviceFacts> found = gpu_devices(paths, choice.backend);
  for (const sandbox::gpu::driver::DeviceFacts& facts : found) {
    if (facts.name != found.front().name) {
      throw core::InputError(
          "--device", "the GPUs here are not alike: " + found.front().name + " and " + facts.name,
          "choose GPUs of one model with CUDA_VISIBLE_DEVICES (AMD: HIP_VISIBLE_DEVICES), or one of them with " +
              choice.backend_name() + ":N");
    }
    if (static_cast<size_t>(&facts - found.data()) % choice.lanes != choice.lane) continue;
    devices.push_back(judged_device(paths, choice.backend, facts.index));
  }
  return devices;
}

// The cpu device's dialect that comes nearest to a GPU.
sandbox::Dialect dialect_on_host(const DeviceChoice& choice, const core::Json& judge) {
  if (choice.backend != benchsuite::Backend::hip) return sandbox::Dialect::cuda;
  const int lanes = sandbox::hip::compiler::lanes_of_wave(judge.at("architecture").get<std::string>());
  return lanes == 64 ? sandbox::Dialect::hip : sandbox::Dialect::hip32;
}

std::string label_of(const DeviceChoice& choice, const core::Json& judge) {
  return benchsuite::is_gpu(choice.backend) ? choice.backend_name() + " " + judge.at("gpu").get<std::string>()
                                            : choice.kind();
}

sandbox::process::WorkerCommand compile_worker(const core::Paths& paths, const DeviceChoice& choice,
                                               const core::Json& judge) {
  if (!benchsuite::is_gpu(choice.backend)) return cpu_worker(paths, choice.dialect);
  return gpu_compile_worker(paths, judge.at("architecture").get<std::string>());
}
}  // namespace

DeviceSession::DeviceSession(const core::Paths& paths, const DeviceChoice& choice, bool hot, int compile_workers,
                             search::EventLoop* event_loop)
    : DeviceSession(paths, choice, settings_for(choice, hot), compile_workers, event_loop) {}

DeviceSession::DeviceSession(const core::Paths& paths, const DeviceChoice& choice,
                             const verifier::judging::JudgeSettings& settings, int compile_workers,
                             search::EventLoop* event_loop)
    : paths_(paths),
      hot_(settings.timing.hot),
      event_loop_(event_loop),
      judges_(devices_of(paths, choice), settings),
      run_greeting_(judges_.with_first([](verifier::judging::Judge& judge) { return judge.run_greeting(); })),
      judge_greeting_(judges_.with_first([](verifier::judging::Judge& judge) { return judge.greeting(); })),
      choice_(choice),
      device_(label_of(choice, judge_greeting_)),
      pool_(compile_worker(paths, choice, judge_greeting_), compile_workers),
      first_(devices_of(paths, choice).front()),
      sanitizer_(choice.backend == benchsuite::Backend::cuda ? find_cuda_tool("compute-sanitizer") : std::nullopt),
      profiler_program_(choice.backend == benchsuite::Backend::cuda ? find_cuda_tool("ncu") : std::nullopt) {}

sandbox::process::Turns DeviceSession::turns_of_first() const {
  return sandbox::process::Turns(sandbox::process::file_of_turns(first_.turns_in, gpu()));
}

std::optional<verifier::verdicts::Verdict> DeviceSession::examine(const verifier::judging::Builds& candidate,
                                                                  const benchsuite::Problem& problem,
                                                                  verifier::reference::ReferenceChannel* drawer) {
  if (!sanitizer_) return std::nullopt;
  const std::lock_guard lock(examining_);
  if (!sanitizers_) sanitizers_.emplace(*sanitizer_, first_.worker);
  const sandbox::process::Turns turns = turns_of_first();
  const auto turn = turns.beside_others();
  return sanitizers_->examine(candidate, problem, drawer);
}

void DeviceSession::prepare_examination() {
  if (!sanitizer_) return;
  const std::unique_lock lock(examining_, std::try_to_lock);
  if (!lock || sanitizers_) return;
  try {
    sanitizers_.emplace(*sanitizer_, first_.worker);
  } catch (const core::SystemError&) {  // examine() meets it again, and says so
  }
}

std::optional<std::future<judges::HostCheck::Finding>> DeviceSession::begin_host_check(
    const benchsuite::Problem& problem, const verifier::judging::Builds& candidate) {
  if (!benchsuite::is_gpu(choice_.backend) || candidate.in_pytorch()) return std::nullopt;
  const std::lock_guard lock(checking_);
  try {
    if (!host_check_) {
      host_check_.emplace(judged_device(paths_, benchsuite::Backend::cpu, 0),
                          cpu_worker(paths_, dialect_on_host(choice_, judge_greeting_)));
    }
    return host_check_->begin(problem, candidate.solution(), candidate.binding());
  } catch (const core::SystemError& error) {  // no compiler here
    std::promise<judges::HostCheck::Finding> none;
    none.set_value({{}, {false, core::clean_line(error.what(), 300)}});
    return none.get_future();
  }
}

std::vector<verifier::verdicts::Counters> DeviceSession::profile(const verifier::judging::Builds& candidate,
                                                                 const benchsuite::Problem& problem,
                                                                 verifier::reference::ReferenceChannel* drawer) {
  if (!profiler_program_) return {};
  const std::lock_guard lock(profiling_);
  if (profiler_failures_ >= kMostProfilerFailures) return {};
  try {
    if (!profiler_) profiler_.emplace(*profiler_program_, first_.worker);
    const sandbox::process::Turns turns = turns_of_first();
    const auto turn = turns.alone();
    std::vector<verifier::verdicts::Counters> counters = profiler_->profile(candidate, problem, drawer);
    profiler_failures_ = 0;
    return counters;
  } catch (const core::SystemError&) {
    ++profiler_failures_;
    profiler_.reset();  // the next one starts anew
    throw;
  }
}

std::optional<std::string> DeviceSession::why_not(const sandbox::Solution& solution) const {
  return why_not_on(choice_, judge_greeting_.value("architecture", ""), solution);
}

core::Json DeviceSession::environment() const {
  utsname system{};
  ::uname(&system);
  const core::Json& compiler = pool_.greeting();
  const std::string processor = cpuinfo();
  const core::Json& jail = run_greeting_;
  core::Json facts{{"program", KW_VERSION},
                   {"device", device_},
                   {"processor", processor_name(processor)},
                   {"vectors", vector_words(processor)},
                   {"machine", system.machine},
                   {"cores", std::thread::hardware_concurrency()},
                   {"kernel", system.release},
                   {"compiler", compiler.at("compiler_version")},
                   {"dialect", name_of(choice_.dialect)},
                   {"sandbox_level", jail.at("sandbox_level")},
                   {"sandbox", jail.at("sandbox")},
                   {"compile_level", compiler.at("sandbox_level")},
                   {"judge_level", judge_greeting_.at("sandbox_level")}};
  const core::Json& gpu = judge_greeting_;
  for (const char* fact :
       {"gpu", "architecture", "driver", "memory_bytes", "multiprocessors", "l2_bytes", "shared_bytes_per_block",
        "shared_bytes_per_multiprocessor", "registers_per_multiprocessor"}) {
    if (gpu.contains(fact)) facts[fact] = gpu.at(fact);
  }
  return facts;
}

int background_compile_workers() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1); }

std::string processor_name(std::string_view cpuinfo) {
  const std::string name = cpuinfo_value(cpuinfo, "model name");
  return name.empty() ? "unknown" : name;
}

std::string vector_words(std::string_view cpuinfo) {
  const auto words = [&](std::string_view line) {
    const std::vector<std::string> all = core::split(cpuinfo_value(cpuinfo, line), ' ');
    return std::set<std::string>(all.begin(), all.end());
  };
  const std::set<std::string> x86 = words("flags"), arm = words("Features");
  std::vector<std::string> parts;
  if (x86.count("avx512f") > 0) {
    parts.emplace_back("AVX-512: vectors of 64 bytes");
  } else if (x86.count("avx") > 0) {
    parts.emplace_back(std::string(x86.count("avx2") > 0 ? "AVX2" : "AVX") + ": vectors of 32 bytes");
  } else if (x86.count("sse2") > 0) {
    parts.emplace_back("SSE: vectors of 16 bytes");
  } else if (arm.count("asimd") > 0) {
    parts.emplace_back("NEON: vectors of 16 bytes");
  }
  if (parts.empty()) return "";
  const bool fma = x86.count("fma") > 0 || arm.count("asimd") > 0;
  const bool halves = x86.count("f16c") > 0 || arm.count("asimd") > 0;
  parts.emplace_back(fma ? "fused multiply-add" : "no fused multiply-add");
  parts.emplace_back(halves ? "f16 is converted in hardware" : "f16 is converted in software, which is slow");
  return core::join(parts, "; ");
}

}  // namespace agent::campaign
