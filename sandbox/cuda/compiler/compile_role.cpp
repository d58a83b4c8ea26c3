#include "sandbox/cuda/compiler/compile_role.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/cuda/compiler/compiler.h"
#include "sandbox/gpu/compile_service.h"

namespace sandbox::cuda::compiler {
namespace {
// "sm_90a" is a variant of sm_90.
void require_architecture(const Nvrtc& nvrtc, const std::string& architecture) {
  const std::vector<std::string> known = nvrtc.architectures();
  const std::string plain = architecture.substr(0, architecture.find_last_of("0123456789") + 1);
  if (std::ranges::find(known, plain) != known.end()) return;
  throw core::SystemError("this NVRTC does not compile for " + architecture + "; it knows " + core::join(known, ", "));
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

gpu::ReadyCompiler make_ready(const CompileRoleSettings& settings) {
  const std::string& architecture = settings.architecture;
  const auto nvrtc = std::make_shared<const Nvrtc>(Nvrtc::open(settings.cuda_home));
  require_architecture(*nvrtc, architecture);
  const auto compiler = std::make_shared<const CompilerSettings>(CompilerSettings{
      architecture, core::read_file(settings.device_headers / "kw_prelude.h"), resolved(settings.include_folders)});
  const auto compile_one = [nvrtc, compiler](const CompileRequest& request) {
    return compile(request, *compiler, *nvrtc);
  };
  gpu::require_warm(compile_one({"warm_up.cu", gpu::kWarmUp, {}, Build::fast}), "NVRTC", architecture);
  jail::JailFolders folders;
  for (const auto* group : {&nvrtc->include_folders(), &compiler->include_folders}) {
    folders.read_only.insert(folders.read_only.end(), group->begin(), group->end());
  }
  const auto [major, minor] = nvrtc->version();
  return {{{"compiler", "NVRTC"},
           {"compiler_version", "NVRTC " + std::to_string(major) + "." + std::to_string(minor)},
           {"architecture", architecture},
           {"architectures", nvrtc->architectures()}},
          jail::JailProfile::library_compile,
          std::move(folders),
          compile_one};
}
}  // namespace

void serve_compile_role(process::Channel& owner, const CompileRoleSettings& settings) {
  gpu::serve_compilations(
      owner,
      {"install the CUDA Toolkit where kernelwright's user can read it", settings.memory_mib, settings.deadline_s},
      [&] { return make_ready(settings); });
}

}  // namespace sandbox::cuda::compiler
