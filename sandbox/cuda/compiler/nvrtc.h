// NVRTC, opened at run time: building and starting the program needs no CUDA Toolkit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sandbox/gpu/runtime_compiler.h"

namespace sandbox::cuda::compiler {

class Nvrtc : public gpu::RuntimeCompiler {
 public:
  // Opens the newest NVRTC below `cuda_home` if given, else the one that the dynamic linker finds or one below
  // /usr/local/cuda. Throws core::SystemError with the remedy if there is none.
  static Nvrtc open(const std::filesystem::path& cuda_home = {});

  // The toolkit's headers (cuda_fp16.h and others); below cccl/ the C++ library.
  const std::vector<std::filesystem::path>& include_folders() const { return include_folders_; }
  // Supported architectures ("sm_90"), in ascending order.
  std::vector<std::string> architectures() const;

 private:
  explicit Nvrtc(const core::DynamicLibrary& library);

  int (*architecture_count_)(int*);
  int (*architectures_)(int*);
  std::vector<std::filesystem::path> include_folders_;
};

}  // namespace sandbox::cuda::compiler
