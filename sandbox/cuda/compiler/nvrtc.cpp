#include "sandbox/cuda/compiler/nvrtc.h"

#include "core/dynamic_library.h"
#include "core/error.h"

namespace sandbox::cuda::compiler {
namespace {
namespace fs = std::filesystem;

std::vector<fs::path> candidates(const fs::path& cuda_home) {
  constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  std::vector<fs::path> folders{"", "/usr/local/cuda/lib64"};  // the dynamic linker's folders first
  if (!cuda_home.empty()) folders = {cuda_home / "lib64", cuda_home / "lib"};
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    for (const char* name : kNames) files.push_back(folder / name);
  }
  return files;
}

// Headers lie in known places relative to the library: lib64 and include of a toolkit, targets/<platform>/, or the
// distribution's /usr/lib/<platform> and /usr/include.
std::vector<fs::path> find_include_folders(const fs::path& library_folder) {
  for (const fs::path& root : {library_folder / "..", library_folder / "../..", library_folder / "../../.."}) {
    std::error_code none;
    const fs::path include = fs::canonical(root / "include", none);
    if (none || !fs::exists(include / "cuda_fp16.h")) continue;
    std::vector<fs::path> folders{include};
    if (fs::exists(include / "cccl")) folders.push_back(include / "cccl");
    return folders;
  }
  return {};
}
}  // namespace

Nvrtc Nvrtc::open(const fs::path& cuda_home) {
  const core::DynamicLibrary library(candidates(cuda_home));
  if (!library) {
    throw core::SystemError(
        "NVRTC is not found" + (cuda_home.empty() ? std::string() : " below " + cuda_home.string()) +
        ": install the CUDA Toolkit, and set CUDA_HOME to its folder if that is in an unusual place");
  }
  Nvrtc nvrtc(library);
  nvrtc.include_folders_ = find_include_folders(nvrtc.library_folder());
  if (nvrtc.include_folders_.empty()) {
    throw core::SystemError("the headers of the CUDA Toolkit are missing beside " + nvrtc.library_folder().string() +
                            ": install them (cuda_fp16.h and its neighbours)");
  }
  return nvrtc;
}

Nvrtc::Nvrtc(const core::DynamicLibrary& library) : RuntimeCompiler(library, {"NVRTC", "nvrtc", "CUBIN", "PTX"}) {
  library.take(architecture_count_, "nvrtcGetNumSupportedArchs", "this NVRTC");
  library.take(architectures_, "nvrtcGetSupportedArchs", "this NVRTC");
}

std::vector<std::string> Nvrtc::architectures() const {
  int count = 0;
  require(architecture_count_(&count), "architectures");
  std::vector<int> numbers(static_cast<size_t>(count));
  require(architectures_(numbers.data()), "architectures");
  std::vector<std::string> names;
  for (const int number : numbers) names.push_back("sm_" + std::to_string(number));
  return names;
}

}  // namespace sandbox::cuda::compiler
