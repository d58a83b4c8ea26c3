#include "sandbox/cuda/compiler/nvrtc.h"

#include <dlfcn.h>

#include <memory>

#include "core/dynamic_library.h"

namespace sandbox::cuda::compiler {
namespace {
namespace fs = std::filesystem;
constexpr int kNvrtcOutOfMemory = 1;   // NVRTC_ERROR_OUT_OF_MEMORY
constexpr int kCompilationFailed = 6;  // NVRTC_ERROR_COMPILATION: the log says why

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
  Nvrtc nvrtc;
  Functions& f = nvrtc.functions_;
  library.take(f.version, "nvrtcVersion", "this NVRTC");
  library.take(f.error_string, "nvrtcGetErrorString", "this NVRTC");
  library.take(f.architecture_count, "nvrtcGetNumSupportedArchs", "this NVRTC");
  library.take(f.architectures, "nvrtcGetSupportedArchs", "this NVRTC");
  library.take(f.create, "nvrtcCreateProgram", "this NVRTC");
  library.take(f.destroy, "nvrtcDestroyProgram", "this NVRTC");
  library.take(f.compile, "nvrtcCompileProgram", "this NVRTC");
  library.take(f.log_size, "nvrtcGetProgramLogSize", "this NVRTC");
  library.take(f.log, "nvrtcGetProgramLog", "this NVRTC");
  library.take(f.cubin_size, "nvrtcGetCUBINSize", "this NVRTC");
  library.take(f.cubin, "nvrtcGetCUBIN", "this NVRTC");
  library.take(f.ptx_size, "nvrtcGetPTXSize", "this NVRTC");
  library.take(f.ptx, "nvrtcGetPTX", "this NVRTC");
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(nvrtc.functions_.version), &info) != 0 && info.dli_fname != nullptr) {
    nvrtc.library_folder_ = fs::canonical(info.dli_fname).parent_path();
  }
  nvrtc.include_folders_ = find_include_folders(nvrtc.library_folder_);
  if (nvrtc.include_folders_.empty()) {
    throw core::SystemError("the headers of the CUDA Toolkit are missing beside " + nvrtc.library_folder_.string() +
                            ": install them (cuda_fp16.h and its neighbours)");
  }
  return nvrtc;
}

void Nvrtc::require(int result, const char* what) const {
  if (result != 0) throw core::SystemError(std::string("NVRTC: ") + what + ": " + functions_.error_string(result));
}

std::string Nvrtc::take(void* program, Size size, Text text, const char* what) const {
  size_t bytes = 0;
  require(size(program, &bytes), what);
  std::string taken(bytes, '\0');
  if (bytes > 0) require(text(program, taken.data()), what);
  return taken;
}

std::pair<int, int> Nvrtc::version() const {
  int major = 0, minor = 0;
  require(functions_.version(&major, &minor), "version");
  return {major, minor};
}

std::vector<std::string> Nvrtc::architectures() const {
  int count = 0;
  require(functions_.architecture_count(&count), "architectures");
  std::vector<int> numbers(static_cast<size_t>(count));
  require(functions_.architectures(numbers.data()), "architectures");
  std::vector<std::string> names;
  for (const int number : numbers) names.push_back("sm_" + std::to_string(number));
  return names;
}

NvrtcOutput Nvrtc::compile(const std::string& source, const std::string& name,
                           const std::map<std::string, std::string>& headers,
                           const std::vector<std::string>& options) const {
  std::vector<const char*> header_names, header_texts, arguments;
  for (const auto& [header, text] : headers) {
    header_names.push_back(header.c_str());
    header_texts.push_back(text.c_str());
  }
  for (const std::string& option : options) arguments.push_back(option.c_str());
  void* created = nullptr;
  require(functions_.create(&created, source.c_str(), name.c_str(), static_cast<int>(headers.size()),
                            header_texts.data(), header_names.data()),
          "cannot read the source");
  const auto destroy = [&](void* program) { functions_.destroy(&program); };
  const std::unique_ptr<void, decltype(destroy)> program(created, destroy);

  const int result = functions_.compile(created, static_cast<int>(arguments.size()), arguments.data());
  NvrtcOutput output;
  output.out_of_memory = result == kNvrtcOutOfMemory;
  if (output.out_of_memory) return output;
  output.log = take(created, functions_.log_size, functions_.log, "log");
  while (!output.log.empty() && output.log.back() == '\0') output.log.pop_back();
  if (result == kCompilationFailed) return output;
  require(result, "compilation");
  output.cubin = take(created, functions_.cubin_size, functions_.cubin, "cubin");
  output.ptx = take(created, functions_.ptx_size, functions_.ptx, "PTX");
  while (!output.ptx.empty() && output.ptx.back() == '\0') output.ptx.pop_back();
  output.built = true;
  return output;
}

}  // namespace sandbox::cuda::compiler
