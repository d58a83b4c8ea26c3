// For tests: hiprtc's raw output for a source, before inspection.
#pragma once

#include <stdexcept>
#include <string>

#include "core/paths.h"
#include "sandbox/hip/compiler/compiler.h"
#include "sandbox/hip/compiler/hiprtc.h"

namespace sandbox::hip::compiler::test {

#ifdef KW_HAVE_HIPRTC  // set if hiprtc is installed (cmake/tests.cmake)
inline const inspection::Comgr& comgr() {
  static const inspection::Comgr comgr = inspection::Comgr::open();
  return comgr;
}

inline std::string raw_object(const std::string& source, const std::string& architecture = "gfx90a") {
  static const gpu::RuntimeCompiler hiprtc = open_hiprtc();
  const core::Paths paths = core::installed_paths();
  const gpu::RuntimeCompilerOutput output =
      hiprtc.compile(source, "solution.cu", {},
                     options_for({"solution.cu", source, {}, Build::fast},
                                 {architecture, paths.device_headers(), paths.hip_headers()}));
  if (!output.built) throw std::runtime_error(output.log);
  return output.binary;
}
#endif

}  // namespace sandbox::hip::compiler::test
