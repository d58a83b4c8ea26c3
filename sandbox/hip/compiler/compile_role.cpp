#include "sandbox/hip/compiler/compile_role.h"

#include <cstdlib>
#include <memory>
#include <utility>

#include "core/error.h"
#include "sandbox/gpu/compile_service.h"
#include "sandbox/hip/compiler/compiler.h"
#include "sandbox/hip/compiler/hiprtc.h"

namespace sandbox::hip::compiler {
namespace {
struct Toolchain {
  gpu::RuntimeCompiler hiprtc;
  inspection::Comgr comgr;
  CompilerSettings settings;
};

gpu::ReadyCompiler make_ready(const CompileRoleSettings& settings) {
  // comgr keeps a compilation's files in a folder that it makes below $TMPDIR and removes.
  const std::filesystem::path scratch = std::filesystem::canonical(settings.scratch);
  ::setenv("TMPDIR", scratch.c_str(), 1);
  // Resolves links: the jail checks real paths.
  const auto toolchain = std::make_shared<const Toolchain>(
      Toolchain{open_hiprtc(),
                inspection::Comgr::open(),
                {settings.architecture, std::filesystem::canonical(settings.device_headers),
                 std::filesystem::canonical(settings.hip_headers)}});
  const auto compile_one = [toolchain](const CompileRequest& request) {
    return compile(request, toolchain->settings, toolchain->hiprtc, toolchain->comgr);
  };
  gpu::require_warm(compile_one({"warm_up.cu", gpu::kWarmUp, {}, Build::fast}), "hiprtc", settings.architecture);
  const auto [major, minor] = toolchain->hiprtc.version();
  return {{{"compiler", "hiprtc"},
           {"compiler_version", "hiprtc " + std::to_string(major) + "." + std::to_string(minor)},
           {"architecture", settings.architecture},
           {"architectures", toolchain->comgr.architectures()}},
          jail::JailProfile::scratch_compile,
          {{toolchain->settings.device_headers, toolchain->settings.hip_headers, toolchain->hiprtc.library_folder()},
           {scratch}},
          compile_one};
}
}  // namespace

void serve_compile_role(process::Channel& owner, const CompileRoleSettings& settings) {
  gpu::serve_compilations(
      owner, {"install ROCm where kernelwright's user can read it", settings.memory_mib, settings.deadline_s},
      [&] { return make_ready(settings); });
}

}  // namespace sandbox::hip::compiler
