#include "sandbox/gpu/runtime_compiler.h"

#include <dlfcn.h>

#include <memory>

#include "core/error.h"

namespace sandbox::gpu {
namespace {
constexpr int kOutOfMemory = 1;        // NVRTC_ERROR_OUT_OF_MEMORY, HIPRTC_ERROR_OUT_OF_MEMORY
constexpr int kCompilationFailed = 6;  // ..._ERROR_COMPILATION: the log says why
}  // namespace

RuntimeCompiler::RuntimeCompiler(const core::DynamicLibrary& library, const RuntimeCompilerNames& names)
    : names_(names) {
  const auto take = [&](auto& function, const std::string& suffix) {
    library.take(function, names.prefix + suffix, std::string("this ") + names.name);
  };
  const std::string binary = std::string("Get") + names.binary;
  take(version_, "Version");
  take(error_string_, "GetErrorString");
  take(create_, "CreateProgram");
  take(destroy_, "DestroyProgram");
  take(compile_, "CompileProgram");
  take(log_size_, "GetProgramLogSize");
  take(log_, "GetProgramLog");
  take(binary_size_, binary + "Size");
  take(binary_, binary);
  if (names.text == nullptr) return;
  take(text_size_, std::string("Get") + names.text + "Size");
  take(text_, std::string("Get") + names.text);
}

std::filesystem::path RuntimeCompiler::library_folder() const {
  Dl_info info{};
  const bool found = ::dladdr(reinterpret_cast<void*>(version_), &info) != 0 && info.dli_fname != nullptr;
  return found ? std::filesystem::canonical(info.dli_fname).parent_path() : std::filesystem::path();
}

void RuntimeCompiler::require(int result, const char* what) const {
  if (result != 0) throw core::SystemError(std::string(names_.name) + ": " + what + ": " + error_string_(result));
}

std::string RuntimeCompiler::take(void* program, Size size, Text text, const char* what) const {
  size_t bytes = 0;
  require(size(program, &bytes), what);
  std::string taken(bytes, '\0');
  if (bytes > 0) require(text(program, taken.data()), what);
  return taken;
}

std::pair<int, int> RuntimeCompiler::version() const {
  int major = 0, minor = 0;
  require(version_(&major, &minor), "version");
  return {major, minor};
}

RuntimeCompilerOutput RuntimeCompiler::compile(const std::string& source, const std::string& name,
                                               const std::map<std::string, std::string>& headers,
                                               const std::vector<std::string>& options) const {
  std::vector<const char*> header_names, header_texts, arguments;
  for (const auto& [header, text] : headers) {
    header_names.push_back(header.c_str());
    header_texts.push_back(text.c_str());
  }
  for (const std::string& option : options) arguments.push_back(option.c_str());
  void* created = nullptr;
  require(create_(&created, source.c_str(), name.c_str(), static_cast<int>(headers.size()), header_texts.data(),
                  header_names.data()),
          "cannot read the source");
  const auto destroy = [&](void* program) { destroy_(&program); };
  const std::unique_ptr<void, decltype(destroy)> program(created, destroy);

  const int result = compile_(created, static_cast<int>(arguments.size()), arguments.data());
  RuntimeCompilerOutput output;
  output.out_of_memory = result == kOutOfMemory;
  if (output.out_of_memory) return output;
  output.log = take(created, log_size_, log_, "log");
  while (!output.log.empty() && output.log.back() == '\0') output.log.pop_back();
  if (result == kCompilationFailed) return output;
  require(result, "compilation");
  output.binary = take(created, binary_size_, binary_, "binary");
  if (text_ != nullptr) output.ptx = take(created, text_size_, text_, "PTX");
  while (!output.ptx.empty() && output.ptx.back() == '\0') output.ptx.pop_back();
  output.built = true;
  return output;
}

}  // namespace sandbox::gpu
