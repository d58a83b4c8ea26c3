#include "agent/campaign/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "agent/campaign/startup.h"
#include "agent/torch/torch_python.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "verifier/devices/cuda/judge_kernels.h"
#include "verifier/devices/cuda/sanitizers.h"

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
std::string compiled_by(const std::filesystem::path& program, const std::filesystem::path& headers) {
  const auto written = std::filesystem::last_write_time(program).time_since_epoch().count();
  return core::sha256_hex(
      fmt::format("{} {} {}", written, std::filesystem::file_size(program), core::read_file(headers / "kw_prelude.h")));
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
  if (architecture.starts_with("sm_")) return cuda_compile_worker(paths, architecture);
  if (architecture.starts_with("gfx")) return hip_compile_worker(paths, architecture);
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
  if (backend == Backend::hip) {
    throw core::UsageError(
        "--device", "nothing runs on AMD GPUs yet",
        "kernelwright check --arch gfx90a compiles and inspects a solution for them, --device cpu-hip judges it on the "
        "host, and export --to hip makes a project that builds there");
  }
  throw core::UsageError(
      "--device", "\"" + device + "\" is not a device of this version",
      "use cpu, cpu-hip, cpu-hip32, cuda, cuda:N or cuda:all; kernelwright doctor lists what this host has");
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
  if (!names(solution, device.backend_name())) return "it is not for the device " + device.backend_name() + say;
  if (device.backend != Backend::cpu) return std::nullopt;
  if (device.dialect != sandbox::Dialect::cuda) {
    return names(solution, "hip") ? std::nullopt : std::optional("it is not for HIP" + say);
  }
  if (own_dialect(solution) == sandbox::Dialect::cuda) return std::nullopt;
  return "it is HIP and not CUDA" + say + "; judge it on the device cpu-hip";
}

std::optional<std::filesystem::path> find_cuda_tool(const std::string& name) {
  const char* home = std::getenv("CUDA_HOME");
  const char* path = std::getenv("PATH");
  return verifier::devices::cuda::find_tool(name, home != nullptr ? home : "", path != nullptr ? path : "");
}

verifier::judging::JudgedDevice judged_device(const core::Paths& paths, Backend backend, int index) {
  verifier::judging::JudgedDevice device{worker(paths, backend), backend};
  device.pytorch = [paths, gpu = device.gpu() ? std::optional(index) : std::nullopt] {
    return torch::reference_worker(paths, gpu);
  };
  if (!device.gpu()) return device;
  if (!sandbox::cuda::driver::Driver::is_installed()) static_cast<void>(cuda_devices());  // says what is missing
  device.own_kernels = verifier::devices::cuda::own_kernels(paths.cuda_kernels());
  if (const auto folder = user_cache_folder()) {
    device.own_kernels.kept_in = *folder / "judge-kernels";
    device.own_kernels.made_by = compiled_by(device.worker.program, paths.device_headers());
  }
  device.worker.args.insert(device.worker.args.end(), {"--device", std::to_string(index)});
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    device.worker.args.insert(device.worker.args.end(), {"--visible-devices", visible});
  }
  return device;
}

std::vector<sandbox::cuda::driver::DeviceFacts> cuda_devices() {
  const auto driver = sandbox::cuda::driver::Driver::open();
  std::vector<sandbox::cuda::driver::DeviceFacts> devices;
  for (int i = 0; i < driver.device_count(); ++i) devices.push_back(sandbox::cuda::driver::device_facts(driver, i));
  return devices;
}

}  // namespace agent::campaign
