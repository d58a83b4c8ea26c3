// Serves compilations by a compiler that is a library: NVRTC, hiprtc.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/strict_json.h"
#include "sandbox/compilation.h"
#include "sandbox/jail/jail.h"
#include "sandbox/process/channel.h"

namespace sandbox::gpu {

// A compiler that has compiled once: the first compilation opens further libraries, which would fail in the jail.
struct ReadyCompiler {
  core::Json facts;  // of the greeting: "compiler", "compiler_version", "architecture", "architectures"
  jail::JailProfile profile;
  jail::JailFolders folders;
  std::function<Compilation(const CompileRequest&)> compile;
};

struct CompileServiceSettings {
  std::string remedy;        // for a compiler that does not work in namespaces, where a worker gives up root's rights
  size_t memory_mib = 4096;  // address space for compiling, beyond what is taken before
  int deadline_s = 20;       // for one compilation; announced in the greeting, enforced by the owner
};

// Makes the compiler ready, in namespaces where that works, locks the process, greets, and compiles until the owner
// hangs up. Passes on what `make_ready` throws.
void serve_compilations(process::Channel& owner, const CompileServiceSettings& settings,
                        const std::function<ReadyCompiler()>& make_ready);

// Throws core::SystemError if compiling an empty kernel fails, with `compiler` as the subject.
void require_warm(const Compilation& warm_up, const std::string& compiler, const std::string& architecture);
inline constexpr const char* kWarmUp = "extern \"C\" __global__ void warm_up(int* x) { *x = threadIdx.x; }";

}  // namespace sandbox::gpu
