#include "agent/campaign/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "agent/campaign/startup.h"
#include "agent/torch/torch_python.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "sandbox/cuda/driver/driver.h"
#include "sandbox/hip/driver/driver.h"
#include "verifier/devices/cuda/sanitizers.h"
#include "verifier/devices/gpu/judge_kernels.h"

namespace agent::campaign {
namespace {
using benchsuite::Backend;

sandbox::process::WorkerCommand worker(const core::Paths& paths, Backend backend) {
  const std::filesystem::path program = paths.worker(std::string(name_of(backend)));
  if (!std::filesystem::exists(program)) {
    throw core::SystemError("the worker program " + program.string() +
                            " is missing: keep the installation's bin/ complete");
  }
  return {program, {"--device-headers", paths.device_headers().string()}, {}, paths.sandbox_level};
}

// The program that compiles decides about binaries, and so does what it puts before each source.
std::string compiled_by(const std::filesystem::path& program, const core::Paths& paths) {
  const auto written = std::filesystem::last_write_time(program).time_since_epoch().count();
  return core::sha256_hex(fmt::format("{} {} {} {}", written, std::filesystem::file_size(program),
                                      core::read_file(paths.device_headers() / "kw_prelude.h"),
                                      core::read_file(paths.hip_headers() / "kw_hiprtc.h")));
}

// Says what is missing. A driver that finds no GPU shows when a worker opens it.
void require_driver(const core::Paths& paths, Backend backend) {
  const bool installed = backend == Backend::cuda ? sandbox::cuda::driver::is_installed()
                                                  : !paths.hip_library.empty() || sandbox::hip::driver::is_installed();
  if (!installed) static_cast<void>(open_driver(paths, backend));
}

// The variable that chooses among a vendor's GPUs.
const char* visible_devices(Backend backend) {
  return backend == Backend::hip ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES";
}
}  // namespace

sandbox::process::WorkerCommand cpu_worker(const core::Paths& paths, sandbox::Dialect dialect) {
  sandbox::process::WorkerCommand command = worker(paths, Backend::cpu);
  command.args.insert(command.args.end(), {"--dialect", std::string(name_of(dialect))});
  return command;
}

sandbox::process::WorkerCommand cuda_compile_worker(const core::Paths& paths, const std::string& architecture) {
  sandbox::process::WorkerCommand command = worker(paths, Backend::cuda);
  command.args.insert(command.args.end(), {"--arch", architecture});
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0') {
    command.args.insert(command.args.end(), {"--cuda-home", home});
  }
  if (const char* cutlass = std::getenv("KW_CUTLASS"); cutlass != nullptr && *cutlass != '\0') {
    const std::filesystem::path include = std::filesystem::path(cutlass) / "include";
    if (!std::filesystem::exists(include / "cute")) {
      throw core::InputError("KW_CUTLASS", include.string() + " holds no CuTe headers",
                             "set it to a CUTLASS folder that contains include/cute, or unset it");
    }
    command.args.insert(command.args.end(), {"--include", std::filesystem::absolute(include).string()});
  }
  return command;
}

sandbox::process::WorkerCommand hip_compile_worker(const core::Paths& paths, const std::string& architecture) {
  sandbox::process::WorkerCommand command = worker(paths, Backend::hip);
  command.args.insert(command.args.end(), {"--hip-headers", paths.hip_headers().string(), "--arch", architecture});
  return command;
}

sandbox::process::WorkerCommand gpu_compile_worker(const core::Paths& paths, const std::string& architecture) {
  static const std::regex nvidia("sm_[0-9]{2,3}[af]?"), amd("gfx[0-9a-f]{3,4}");
  if (std::regex_match(architecture, nvidia)) return cuda_compile_worker(paths, architecture);
  if (std::regex_match(architecture, amd)) return hip_compile_worker(paths, architecture);
  throw core::InputError("--arch", "\"" + core::clean_line(architecture, 40) + "\" is no architecture of a GPU",
                         "use NVIDIA's names (sm_90, sm_100a) or AMD's (gfx90a, gfx1100)");
}

DeviceChoice parse_device(const std::string& device) {
  const size_t colon = device.find(':');
  const auto backend = core::enum_from_name<Backend>(device.substr(0, colon));
  DeviceChoice choice{backend.value_or(Backend::cpu)};
  const std::string rest = colon == std::string::npos ? "" : device.substr(colon + 1);
  const bool number = !rest.empty() && rest.size() <= 3 && rest.find_first_not_of("0123456789") == std::string::npos;
  if (number) choice.index = std::stoi(rest);
  choice.all = rest == "all";
  const bool plain = colon == std::string::npos;
  if (plain && device.starts_with("cpu")) {
    for (const sandbox::Dialect dialect : {sandbox::Dialect::cuda, sandbox::Dialect::hip, sandbox::Dialect::hip32}) {
      const DeviceChoice cpu{Backend::cpu, 0, false, dialect};
      if (cpu.kind() == device) return cpu;
    }
  }
  const bool known = backend && benchsuite::traits_of(*backend).judged && benchsuite::is_gpu(*backend);
  if (known && (plain || number || choice.all)) return choice;
  throw core::UsageError("--device", "\"" + device + "\" is not a device of this version",
                         "use cpu, cpu-hip, cpu-hip32, cuda, cuda:N, cuda:all, or hip likewise; kernelwright doctor "
                         "lists what this host has");
}

std::string DeviceChoice::kind() const {
  return dialect == sandbox::Dialect::cuda ? backend_name() : backend_name() + "-" + std::string(name_of(dialect));
}

std::string device_in_dialect(const std::string& device, const std::string& dialect) {
  if (dialect.empty()) return device;
  DeviceChoice choice = parse_device(device);
  if (choice.backend != Backend::cpu) {
    throw core::UsageError("--dialect " + dialect, "is for the cpu device, and " + device + " has only its own",
                           "leave one of the two out");
  }
  choice.dialect = core::parse_enum<sandbox::Dialect>(dialect, "--dialect", "dialects");
  return choice.kind();
}

namespace {
bool names(const sandbox::Solution& solution, const std::string& backend) {
  return std::find(solution.backends.begin(), solution.backends.end(), backend) != solution.backends.end();
}
}  // namespace

sandbox::Dialect own_dialect(const sandbox::Solution& solution) {
  return names(solution, "hip") && !names(solution, "cuda") ? sandbox::Dialect::hip : sandbox::Dialect::cuda;
}

std::optional<std::string> why_not_on(const DeviceChoice& device, const sandbox::Solution& solution) {
  const std::string say = ": its \"backends\" say " + core::join(solution.backends, ", ");
  if (!names(solution, device.backend_name()))
    return "it is not for the device " + device.backend_name() + say + "; try it with --device " +
           solution.backends.front();
  if (device.backend != Backend::cpu) return std::nullopt;
  if (device.dialect != sandbox::Dialect::cuda) {
    return names(solution, "hip") ? std::nullopt : std::optional("it is not for HIP" + say);
  }
  if (own_dialect(solution) == sandbox::Dialect::cuda) return std::nullopt;
  return "it is HIP and not CUDA" + say + "; judge it on the device cpu-hip";
}

std::optional<std::string> why_not_on(const DeviceChoice& device, const std::string& architecture,
                                      const sandbox::Solution& solution) {
  if (auto why = why_not_on(device, solution)) return why;
  if (architecture.empty() || sandbox::gpu::driver::runs_on(architecture, solution.arch)) return std::nullopt;
  return "it needs " + solution.arch + ", and this GPU is " + architecture;
}

std::optional<std::filesystem::path> find_cuda_tool(const std::string& name) {
  const char* home = std::getenv("CUDA_HOME");
  const char* path = std::getenv("PATH");
  return verifier::devices::cuda::find_tool(name, home != nullptr ? home : "", path != nullptr ? path : "");
}

verifier::judging::JudgedDevice judged_device(const core::Paths& paths, Backend backend, int index) {
  verifier::judging::JudgedDevice device{worker(paths, backend), backend};
  device.pytorch = [paths, backend, index] {
    return torch::reference_worker(paths, benchsuite::is_gpu(backend) ? std::optional(index) : std::nullopt,
                                   backend == Backend::hip);
  };
  if (!device.gpu()) return device;
  require_driver(paths, backend);
  device.own_kernels = verifier::devices::gpu::own_kernels(paths.gpu_kernels());
  if (const auto folder = user_cache_folder()) {
    device.own_kernels.kept_in = *folder / "judge-kernels";
    device.own_kernels.made_by = compiled_by(device.worker.program, paths);
    device.turns_in = *folder;
  }
  device.worker.args.insert(device.worker.args.end(), {"--device", std::to_string(index)});
  if (const char* visible = std::getenv(visible_devices(backend))) {
    device.worker.args.insert(device.worker.args.end(), {"--visible-devices", visible});
  }
  if (backend == Backend::hip && !paths.hip_library.empty()) {
    device.worker.args.insert(device.worker.args.end(), {"--hip-library", paths.hip_library.string()});
  }
  return device;
}

sandbox::gpu::driver::Driver open_driver(const core::Paths& paths, Backend backend) {
  return backend == Backend::hip ? sandbox::hip::driver::open_driver(paths.hip_library)
                                 : sandbox::cuda::driver::open_driver();
}

std::vector<sandbox::gpu::driver::DeviceFacts> gpu_devices(const core::Paths& paths, Backend backend) {
  const sandbox::gpu::driver::Driver driver = open_driver(paths, backend);
  std::vector<sandbox::gpu::driver::DeviceFacts> devices;
  for (int i = 0; i < driver.device_count(); ++i) devices.push_back(sandbox::gpu::driver::device_facts(driver, i));
  return devices;
}

}  // namespace agent::campaign
