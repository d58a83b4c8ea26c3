// NVRTC or hiprtc, opened at run time: both have the same functions with another prefix.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/dynamic_library.h"

namespace sandbox::gpu {

struct RuntimeCompilerNames {
  const char* name;    // in messages: "NVRTC"
  const char* prefix;  // of its functions: "nvrtc"
  const char* binary;  // what nvrtcGet<binary> gives: "CUBIN"
  const char* text;    // "PTX"; null if there is none
};

struct RuntimeCompilerOutput {
  bool built = false;
  std::string log;     // raw and untrusted
  std::string binary;  // empty unless built
  std::string ptx;     // the binary's source; empty unless built, or if the compiler has none
  bool out_of_memory = false;
};

class RuntimeCompiler {
 public:
  // Throws core::SystemError for a library that lacks a function.
  RuntimeCompiler(const core::DynamicLibrary& library, const RuntimeCompilerNames& names);

  std::pair<int, int> version() const;  // 13, 0
  // The folder of the library and of the one that it loads while compiling.
  std::filesystem::path library_folder() const;

  // Compiles one program. `headers`: contents by name, found before any file. Throws core::SystemError when the
  // compiler itself fails.
  RuntimeCompilerOutput compile(const std::string& source, const std::string& name,
                                const std::map<std::string, std::string>& headers,
                                const std::vector<std::string>& options) const;

 protected:
  using Size = int (*)(void*, size_t*);
  using Text = int (*)(void*, char*);

  // Throws core::SystemError unless `result` is success.
  void require(int result, const char* what) const;

 private:
  std::string take(void* program, Size size, Text text, const char* what) const;

  RuntimeCompilerNames names_;
  int (*version_)(int*, int*);
  const char* (*error_string_)(int);
  int (*create_)(void**, const char*, const char*, int, const char* const*, const char* const*);
  int (*destroy_)(void**);
  int (*compile_)(void*, int, const char* const*);
  Size log_size_, binary_size_, text_size_ = nullptr;
  Text log_, binary_, text_ = nullptr;
};

}  // namespace sandbox::gpu
