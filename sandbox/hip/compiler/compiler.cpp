#include "sandbox/hip/compiler/compiler.h"

#include <algorithm>
#include <chrono>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "sandbox/gpu/source_check.h"
#include "sandbox/hip/compiler/cuda_only.h"
#include "sandbox/hip/inspection/code_object.h"
#include "sandbox/process/sealed_memory.h"

namespace sandbox::hip::compiler {
namespace {
constexpr size_t kLogBytes = 8192;
constexpr int64_t kRegisterBytes = 4;  // of one lane

// The largest of one resource over all kernels.
template <typename Member>
int64_t largest(const std::map<std::string, inspection::KernelResources>& all, Member member) {
  int64_t most = 0;
  for (const auto& [name, of] : all) most = std::max(most, of.*member);
  return most;
}
}  // namespace

std::vector<std::string> options_for(const CompileRequest& request, const CompilerSettings& settings) {
  std::vector<std::string> options{"--offload-arch=" + settings.architecture, "-std=c++17", "-O3",
                                   "-nostdinc",  // the jail hides the host's headers
                                   // Device functions are inlined: no honest code calls through registers.
                                   "-mllvm", "-amdgpu-early-inline-all=true", "-mllvm", "-amdgpu-function-calls=false",
                                   "-I" + settings.hip_headers.string(),
                                   "-DKW_WAVE=" + std::to_string(lanes_of_wave(settings.architecture)), "-include",
                                   (settings.device_headers / "kw_prelude.h").string(), "-include",
                                   (settings.hip_headers / "kw_hiprtc.h").string()};
  for (const auto& [name, value] : request.macros) options.push_back("-D" + name + "=" + std::to_string(value));
  return options;
}

int lanes_of_wave(const std::string& architecture) {
  return architecture.size() >= 7 && architecture.starts_with("gfx1") ? 32 : 64;
}

Compilation compile(const CompileRequest& request, const CompilerSettings& settings, const gpu::RuntimeCompiler& hiprtc,
                    const inspection::Comgr& comgr) {
  const auto began = std::chrono::steady_clock::now();
  if (auto refused = gpu::refuse_source(request.source)) return *refused;
  comgr.require_architecture(settings.architecture);
  const gpu::RuntimeCompilerOutput output =
      hiprtc.compile("#line 1 \"" + std::string(gpu::kSourceName) + "\"\n" + request.source, gpu::kSourceName, {},
                     options_for(request, settings));
  const std::string log = core::clean_text(output.log, kLogBytes);
  if (output.out_of_memory) {
    return Rejected{Rejection::limit, "compiling it needs more memory than a compile worker has", std::nullopt, ""};
  }
  if (!output.built) {
    if (auto unsupported = find_cuda_only(request.source, log)) return *unsupported;
    return gpu::rejected_by_compiler(output.log, log);
  }
  try {
    inspection::inspect_code_object(output.binary, settings.architecture, comgr);
  } catch (const core::InputError& refused) {
    return Rejected{Rejection::forbidden, refused.problem(), std::nullopt, log};
  }
  const auto resources = inspection::resources_of(output.binary);
  Built built;
  built.kernels = inspection::kernels_of(output.binary);
  if (const std::optional<Solution> solution = solution_of(request)) {
    if (auto refused = refuse_stray_kernel(*solution, built.kernels)) return *refused;
  }
  built.binary = process::sealed_memory("code object", output.binary);
  built.binary_bytes = output.binary.size();
  built.binary_hash = core::sha256_hex(output.binary);
  built.log = log;
  using inspection::KernelResources;
  built.registers = largest(resources, &KernelResources::vector_registers);
  built.scalar_registers = largest(resources, &KernelResources::scalar_registers);
  built.wave = largest(resources, &KernelResources::wave);
  built.shared_bytes = largest(resources, &KernelResources::shared_bytes);
  built.local_bytes = largest(resources, &KernelResources::scratch_bytes);
  built.spill_bytes = kRegisterBytes * largest(resources, &KernelResources::vector_spills);
  built.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  return built;
}

}  // namespace sandbox::hip::compiler
