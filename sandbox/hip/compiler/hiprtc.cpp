#include "sandbox/hip/compiler/hiprtc.h"

#include "core/error.h"

namespace sandbox::hip::compiler {

gpu::RuntimeCompiler open_hiprtc() {
  std::vector<std::filesystem::path> files;
  for (const char* name : {"libhiprtc.so.7", "libhiprtc.so.6", "libamdhip64.so.5"}) {
    files.insert(files.end(), {name, std::filesystem::path("/opt/rocm/lib") / name});
  }
  const core::DynamicLibrary library(files);
  if (!library) {
    throw core::SystemError(
        "hiprtc is not found: install ROCm, or Debian's packages libamdhip64-dev, libhiprtc-builtins5 and "
        "libamd-comgr2");
  }
  return gpu::RuntimeCompiler(library, {"hiprtc", "hiprtc", "Code", nullptr});
}

}  // namespace sandbox::hip::compiler
