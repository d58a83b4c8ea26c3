// A shared library opened at run time. It is never closed: functions taken from it stay valid.
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"

namespace core {

class DynamicLibrary {
 public:
  // Opens the first of `files` that opens; a name without a folder is looked up by the dynamic linker.
  explicit DynamicLibrary(const std::vector<std::filesystem::path>& files) {
    for (const std::filesystem::path& file : files) {
      if (handle_ == nullptr) handle_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
  }
  explicit operator bool() const { return handle_ != nullptr; }

  // Sets `function` to the symbol; null and false when the library lacks it.
  template <typename Function>
  bool find(Function& function, const std::string& symbol) const {
    function = reinterpret_cast<Function>(::dlsym(handle_, symbol.c_str()));
    return function != nullptr;
  }
  // The same; throws SystemError, with `library` as the subject ("this NVRTC"), when the library lacks it.
  template <typename Function>
  void take(Function& function, const std::string& symbol, const std::string& library) const {
    if (!find(function, symbol)) throw SystemError(library + " is too old: it lacks " + symbol);
  }

 private:
  void* handle_ = nullptr;
};

}  // namespace core
