// For tests: NVRTC's raw output for a source.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

#include "core/paths.h"
#include "core/text.h"
#include "sandbox/cuda/compiler/nvrtc.h"

namespace sandbox::cuda::compiler::test {

#ifdef KW_CUDA_HOME  // set if NVRTC is installed (cmake/tests.cmake)
inline gpu::RuntimeCompilerOutput raw_output(const std::string& source, const std::string& architecture = "sm_90") {
  static const Nvrtc nvrtc = Nvrtc::open(KW_CUDA_HOME);
  static const std::string prelude = core::read_file(core::installed_paths().device_headers() / "kw_prelude.h");
  std::vector<std::string> options{"-arch=" + architecture, "-std=c++17", "-lineinfo", "--pre-include=kw_prelude.h"};
  for (const auto& folder : nvrtc.include_folders()) options.push_back("-I" + folder.string());
  gpu::RuntimeCompilerOutput output = nvrtc.compile(source, "solution.cu", {{"kw_prelude.h", prelude}}, options);
  if (!output.built) throw std::runtime_error(output.log);
  return output;
}
#endif

}  // namespace sandbox::cuda::compiler::test
