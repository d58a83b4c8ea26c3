#include "sandbox/cuda/compiler/compile_role.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/cuda/compiler/compiler.h"
#include "sandbox/jail/jail.h"
#include "sandbox/jail/namespaces.h"
#include "sandbox/wire.h"

namespace sandbox::cuda::compiler {
namespace {
constexpr const char* kWarmUp = "extern \"C\" __global__ void warm_up(int* x) { *x = threadIdx.x; }";

// "sm_90a" is a variant of sm_90.
void require_architecture(const Nvrtc& nvrtc, const std::string& architecture) {
  const std::vector<std::string> known = nvrtc.architectures();
  const std::string plain = architecture.substr(0, architecture.find_last_of("0123456789") + 1);
  if (std::ranges::find(known, plain) != known.end()) return;
  throw core::SystemError("this NVRTC does not compile for " + architecture + "; it knows " + core::join(known, ", "));
}
// NVRTC reserves gigabytes of address space on hosts with many cores.
size_t address_space_now() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

// Resolves links: the jail checks real paths.
std::vector<std::filesystem::path> resolved(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::filesystem::path> found;
  for (const auto& folder : folders) {
    std::error_code missing;
    found.push_back(std::filesystem::canonical(folder, missing));
    if (missing) throw core::SystemError("the include folder " + folder.string() + " is not there");
  }
  return found;
}

struct Ready {
  Nvrtc nvrtc;
  CompilerSettings compiler;
};

Ready make_ready(const CompileRoleSettings& settings) {
  const std::string& architecture = settings.architecture;
  Ready ready{Nvrtc::open(settings.cuda_home), {}};
  require_architecture(ready.nvrtc, architecture);
  ready.compiler = {architecture, core::read_file(settings.device_headers / "kw_prelude.h"),
                    resolved(settings.include_folders)};
  // The first compilation opens further libraries, which would fail after locking.
  const Compilation warm_up = compile({"warm_up.cu", kWarmUp, {}, Build::fast}, ready.compiler, ready.nvrtc);
  if (const auto* rejected = std::get_if<Rejected>(&warm_up)) {
    throw core::SystemError("NVRTC does not compile for " + architecture + ": " + rejected->message);
  }
  return ready;
}

// If only root can read the toolkit, this fails in namespaces, where a worker gives up root's rights.
std::pair<Ready, jail::Namespaces> make_ready_in_namespaces(const CompileRoleSettings& settings) {
  jail::NamespaceTrial trial = jail::NamespaceTrial::begin(jail::Pids::shared);
  try {
    Ready ready = make_ready(settings);
    trial.keep();
    return {std::move(ready), trial.namespaces()};
  } catch (const std::exception& error) {
    trial.fall_back({error.what(), "install the CUDA Toolkit where kernelwright's user can read it"});
    throw;
  }
}
}  // namespace

void serve_compile_role(process::Channel& owner, const CompileRoleSettings& settings) {
  const auto [ready, namespaces] = make_ready_in_namespaces(settings);
  const Nvrtc& nvrtc = ready.nvrtc;
  const CompilerSettings& compiler = ready.compiler;
  jail::JailFolders folders;
  for (const auto* group : {&nvrtc.include_folders(), &compiler.include_folders}) {
    folders.read_only.insert(folders.read_only.end(), group->begin(), group->end());
  }
  jail::JailLimits limits;
  limits.address_space_bytes = address_space_now() + (settings.memory_mib << 20);
  const auto [major, minor] = nvrtc.version();
  core::Json greeting{{"role", "compile"},
                      {"compiler", "NVRTC"},
                      {"compiler_version", "NVRTC " + std::to_string(major) + "." + std::to_string(minor)},
                      {"architecture", settings.architecture},
                      {"deadline_s", settings.deadline_s},
                      {"architectures", nvrtc.architectures()}};
  jail::enter_jail(jail::JailProfile::library_compile, folders, limits, namespaces).describe(greeting);
  owner.send(greeting);
  process::serve<core::SystemError>(owner, [&](const process::Message& request) {
    const core::JsonView json(request.json, "compile request");
    send_compilation(owner, compile(compile_request_from_json(json), compiler, nvrtc));
  });
}

}  // namespace sandbox::cuda::compiler
