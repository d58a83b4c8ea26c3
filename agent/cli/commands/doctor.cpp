// kernelwright doctor: lists what this host has, the cost of each missing thing, and how to get it.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "agent/campaign/devices.h"
#include "agent/campaign/libraries.h"
#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/cli/selftest_text.h"
#include "agent/cli/table.h"
#include "agent/torch/torch_python.h"
#include "core/error.h"
#include "core/paths.h"
#include "sandbox/compile_pool.h"
#include "sandbox/jail/jail.h"
#include "sandbox/process/worker.h"

namespace agent::cli::commands {
namespace {
using benchsuite::Backend;

enum class State { ok, missing, broken };

struct Finding {
  std::string what;
  State state;
  std::string detail;  // the finding, or the cost of its absence
  std::string remedy;  // how to get it; empty when it is there
};

std::string_view name_of(State state) {
  return state == State::ok ? "ok" : state == State::missing ? "missing" : "BROKEN";
}

// Runs a probe; an exception becomes a finding "broken" with its message.
Finding probe(const std::string& what, const std::string& remedy, const std::function<std::string()>& action) {
  try {
    return {what, State::ok, action(), ""};
  } catch (const std::exception& error) {
    return {what, State::broken, error.what(), remedy};
  }
}

// The first of these libraries that the dynamic linker can open.
Finding library(const std::string& what, const std::vector<std::string>& names, const std::string& cost,
                const std::string& remedy) {
  for (const std::string& name : names) {
    // Never closed: some of these libraries cannot be, and this program is about to end.
    if (::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr) return {what, State::ok, name, ""};
  }
  return {what, State::missing, cost, remedy};
}

Finding archive_folder(const std::filesystem::path& archive) {
  return probe("archive", "give a writable path with --archive", [&] {
    std::filesystem::path folder = std::filesystem::absolute(archive).parent_path();
    while (!std::filesystem::exists(folder)) folder = folder.parent_path();
    if (::access(folder.c_str(), W_OK) != 0) throw core::SystemError(folder.string() + " is not writable");
    return archive.string() + (std::filesystem::exists(archive) ? "" : " (made by the first run)");
  });
}

// A compiler for GPUs, started as in a campaign. `vendor`: "NVIDIA".
Finding gpu_compiler(const std::string& what, const core::Paths& paths, const std::string& architecture,
                     const std::string& vendor, const std::string& remedy) {
  try {
    const core::Json greeting = sandbox::CompilePool(campaign::gpu_compile_worker(paths, architecture), 1).greeting();
    const auto architectures = greeting.at("architectures").get<std::vector<std::string>>();
    return {what, State::ok,
            fmt::format("{} for {} to {}", greeting.at("compiler_version").get<std::string>(), architectures.front(),
                        architectures.back()),
            ""};
  } catch (const std::exception& error) {
    return {what, State::missing,
            fmt::format("no compiling for {} GPUs; the cpu device does not need it ({})", vendor,
                        core::clean_line(error.what(), 200)),
            remedy};
  }
}

// The GPUs of one vendor.
struct Gpus {
  Backend backend;
  std::string driver;  // its version
  std::vector<sandbox::gpu::driver::DeviceFacts> all;
  std::string missing = "";  // why there are none

  std::string backend_name() const { return std::string(benchsuite::name_of(backend)); }
};

Gpus gpus_here(const core::Paths& paths, Backend backend) {
  try {
    return {backend, campaign::open_driver(paths, backend).version(), campaign::gpu_devices(paths, backend)};
  } catch (const core::SystemError& error) {
    return {backend, "", {}, error.what()};
  }
}

Finding gpu(const sandbox::gpu::driver::DeviceFacts& facts, const Gpus& here) {
  return {fmt::format("{}:{}", here.backend_name(), facts.index), State::ok,
          fmt::format("{}, {:.0f} GiB, {} {}, {}; driver for {} {}", facts.name,
                      static_cast<double>(facts.memory_bytes) / (1 << 30), facts.multiprocessors,
                      here.backend == Backend::hip ? "compute units" : "multiprocessors", facts.architecture,
                      here.backend == Backend::hip ? "HIP" : "CUDA", here.driver),
          ""};
}

// One finding for each GPU, and one for the calibration of each GPU model.
std::vector<Finding> gpus(const Invocation& invocation, const Gpus& here) {
  std::vector<Finding> findings;
  std::set<std::string> names;
  for (const sandbox::gpu::driver::DeviceFacts& facts : here.all) {
    findings.push_back(gpu(facts, here));
    names.insert(facts.name);
  }
  for (const std::string& name : names) {
    std::optional<verifier::verdicts::Calibration> known;
    Finding finding = probe("calibration: " + name, "give another file with --archive", [&]() -> std::string {
      if (std::filesystem::exists(invocation.archive)) {
        known =
            campaign::open_existing_archive(invocation.archive).newest_calibration(here.backend_name() + " " + name);
      }
      if (!known) return "the first campaign on it takes a few seconds longer";
      return fmt::format("{:.2f} TB/s copied, measured {}", known->dram_copy_gb_s / 1e3, known->made);
    });
    if (finding.state == State::ok && !known) {
      finding.state = State::missing;
      finding.remedy = "kernelwright calibrate measures the GPU's peak rates";
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

// The newest selftest of each device.
std::vector<Finding> selftests(const Invocation& invocation) {
  std::vector<Finding> findings;
  if (std::filesystem::exists(invocation.archive)) {
    for (const results::archive::SelftestRecord& record :
         campaign::open_existing_archive(invocation.archive).newest_selftests()) {
      const bool passed = record.of.false_accepts == 0 && record.of.false_rejects == 0;
      findings.push_back({"selftest: " + record.of.device, passed ? State::ok : State::broken, selftest_line(record),
                          passed ? "" : "kernelwright selftest lists the cases"});
    }
  }
  return findings;
}

// The libraries that kernels on a GPU are compared with, opened as in a campaign; takes some seconds.
std::vector<Finding> libraries_here(const core::Paths& paths, const Invocation& invocation) {
  const campaign::LoadedData data = load_data(invocation);
  std::vector<const benchsuite::Problem*> problems;
  for (const auto& [name, problem] : data.catalogue.problems) problems.push_back(&problem);
  std::vector<Finding> findings;
  const auto left_out = [&](const std::string& why) {
    findings.push_back({"comparison", State::missing, why, "it is optional: campaigns run without it"});
  };
  try {
    for (const campaign::Library& one :
         campaign::find_libraries(paths, campaign::parse_device("cuda"), problems, {}, left_out)) {
      findings.push_back({"comparison", State::ok, one.name, ""});
    }
  } catch (const core::InputError& error) {
    left_out(error.what());
  }
  return findings;
}

Finding pytorch() {
  const std::string cost = "no kernelwright import, and no problems with reference.py; others do not need it";
  try {
    const auto python = torch::find_torch_python();
    if (const auto* why = std::get_if<std::string>(&python)) {
      return {"PyTorch", State::missing, cost + " (" + *why + ")", torch::torch_remedy()};
    }
    const auto& found = std::get<torch::TorchPython>(python);
    return {"PyTorch", State::ok, found.torch + " in " + found.interpreter.string(), ""};
  } catch (const core::InputError& error) {
    return {"PyTorch", State::missing, cost, error.what()};
  }
}

// The sandbox level of a kind of worker, and how to raise it.
Finding sandbox_of(const std::string& what, const sandbox::process::WorkerCommand& worker, const std::string& role,
                   int required_level) {
  const std::string name = "sandbox: " + what;
  try {
    core::Json greeting;
    if (role == "compile") {
      greeting = sandbox::CompilePool(worker, 1).greeting();
    } else {
      sandbox::process::WorkerCommand command = worker;
      command.args.insert(command.args.end(), {"--role", role});
      greeting = sandbox::process::Worker::start(command).greeting();
    }
    const auto report = sandbox::jail::JailReport::of(greeting);
    return {name, report.level < required_level ? State::broken : State::ok,
            fmt::format("level {} of {}: {}", report.level, sandbox::jail::kHighestLevel, report.sentence()),
            report.missing ? report.missing->remedy : ""};
  } catch (const std::exception& error) {
    return {name, State::broken, error.what(), "candidates cannot be judged until this worker starts"};
  }
}

std::vector<Finding> sandboxes(const core::Paths& paths, const Invocation& invocation,
                               const std::vector<Gpus>& vendors) {
  std::vector<Finding> findings;
  for (const char* role : {"compile", "judge", "run"}) {
    findings.push_back(
        sandbox_of(std::string("cpu, ") + role, campaign::cpu_worker(paths), role, invocation.sandbox_level));
  }
  for (const Gpus& here : vendors) {
    if (here.all.empty()) continue;
    const std::string name = here.backend_name() + ", ";
    const sandbox::gpu::driver::DeviceFacts& first = here.all.front();
    const sandbox::process::WorkerCommand gpu = campaign::judged_device(paths, here.backend, first.index).worker;
    for (const char* role : {"judge", "run"}) {
      findings.push_back(sandbox_of(name + role, gpu, role, invocation.sandbox_level));
    }
    const sandbox::process::WorkerCommand compiler = campaign::gpu_compile_worker(paths, first.architecture);
    findings.push_back(sandbox_of(name + "compile", compiler, "compile", invocation.sandbox_level));
  }
  return findings;
}

// The HIP runtime and its GPUs, if any.
std::vector<Finding> amd_gpus(const Invocation& invocation, const Gpus& here) {
  if (!here.all.empty()) return gpus(invocation, here);
  const bool driver = std::filesystem::exists("/dev/kfd");
  return {
      {"AMD GPU", State::missing,
       fmt::format("no AMD GPU to run on; use the cpu device ({}{})", here.missing,
                   driver ? "" : "; the kernel's driver, /dev/kfd, is missing, too"),
       "install ROCm 6 or newer on a machine with such a GPU; kernelwright check --arch gfx90a compiles and inspects "
       "anywhere, export --to hip writes a project"}};
}

std::vector<Finding> examine(const Invocation& invocation, const std::vector<Gpus>& vendors) {
  core::Paths paths = core::installed_paths();
  const std::vector<sandbox::gpu::driver::DeviceFacts>& here = vendors.front().all;  // NVIDIA's
  paths.sandbox_level = 0;  // report the level instead of refusing it
  std::vector<Finding> findings;
  findings.push_back({"processor", State::ok, fmt::format("{} cores", std::thread::hardware_concurrency()), ""});
  findings.push_back(probe("cpu device: compiler", "install g++ (12 or newer) or clang (14 or newer)", [&] {
    const core::Json greeting = sandbox::CompilePool(campaign::cpu_worker(paths), 1).greeting();
    return greeting.at("compiler_version").get<std::string>();
  }));
  for (Finding& finding : sandboxes(paths, invocation, vendors)) findings.push_back(std::move(finding));
  findings.push_back(archive_folder(invocation.archive));
  for (Finding& finding : selftests(invocation)) findings.push_back(std::move(finding));
  findings.push_back(pytorch());
  findings.push_back(gpu_compiler("NVRTC", paths, "sm_90", "NVIDIA",
                                  "install the CUDA Toolkit; set CUDA_HOME if it is in an unusual place"));
  findings.push_back(library("NVIDIA driver", {"libcuda.so.1"}, "no NVIDIA GPU to run on; use the cpu device",
                             "install the NVIDIA driver on a machine with such a GPU"));
  for (Finding& finding : gpus(invocation, vendors.front())) findings.push_back(std::move(finding));
  if (!here.empty()) {
    const auto sanitizer = campaign::find_cuda_tool("compute-sanitizer"), profiler = campaign::find_cuda_tool("ncu");
    findings.push_back({"compute-sanitizer", sanitizer ? State::ok : State::missing,
                        sanitizer ? sanitizer->string() : "wins on a GPU are confirmed without its checks",
                        sanitizer ? "" : "install the CUDA Toolkit; set CUDA_HOME if it is in an unusual place"});
    findings.push_back({"Nsight Compute", profiler ? State::ok : State::missing,
                        profiler ? profiler->string() : "models get no hardware counters",
                        profiler ? "" : "install Nsight Compute (ncu), a part of the CUDA Toolkit"});
    for (Finding& finding : libraries_here(paths, invocation)) findings.push_back(std::move(finding));
  }
  findings.push_back(gpu_compiler("hiprtc", paths, "gfx90a", "AMD",
                                  "install ROCm (Debian: libamdhip64-dev, libhiprtc-builtins5, libamd-comgr2)"));
  for (Finding& finding : amd_gpus(invocation, vendors.back())) findings.push_back(std::move(finding));
  return findings;
}

void doctor(Invocation& invocation) {
  const core::Paths paths = core::installed_paths();
  const std::vector<Gpus> vendors{gpus_here(paths, Backend::cuda), gpus_here(paths, Backend::hip)};
  const std::vector<Finding> findings = examine(invocation, vendors);
  const auto compiles = [&](std::string_view compiler) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& finding) { return finding.what == compiler && finding.state == State::ok; });
  };
  std::string devices = "cpu";
  for (const Gpus& here : vendors) {
    if (!compiles(here.backend == Backend::hip ? "hiprtc" : "NVRTC")) continue;
    for (const sandbox::gpu::driver::DeviceFacts& facts : here.all) {
      devices += fmt::format(", {}:{}", here.backend_name(), facts.index);
    }
  }
  core::Json all = core::Json::array();
  Table table({{"WHAT"}, {"STATE"}, {"FOUND, OR THE COST OF ITS ABSENCE"}, {"HOW TO GET IT"}});
  for (const Finding& finding : findings) {
    if (finding.state == State::broken) invocation.exit_code = kOurFault;
    all.push_back({{"what", finding.what},
                   {"state", name_of(finding.state)},
                   {"detail", finding.detail},
                   {"remedy", finding.remedy}});
    table.add_row({finding.what, std::string(name_of(finding.state)), finding.detail, finding.remedy});
  }
  if (invocation.json) {
    print_json(all);
    return;
  }
  print("{}\n{}\n", table.text(),
        invocation.exit_code == kDone ? "Devices that can run candidates here: " + devices + "."
                                      : "Something is broken: campaigns cannot run until it is fixed.");
}
}  // namespace

void add_doctor_command(CLI::App& app, Invocation& invocation) {
  app.add_subcommand("doctor", "List what this host has, the cost of each missing thing, and how to get it")
      ->callback([&invocation] { doctor(invocation); });
}

}  // namespace agent::cli::commands
