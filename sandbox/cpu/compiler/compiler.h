// The cpu device's compiler: lexes CUDA C++ (lexer.h), then runs the host's g++ or clang over the headers of
// sandbox/cpu/shim. The result is a shared object. Runs inside the jailed compile worker.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/compilation.h"

namespace sandbox::cpu::compiler {

struct HostCompiler {
  std::filesystem::path program;  // resolved, e.g. /usr/bin/x86_64-linux-gnu-g++-12
  bool clang = false;
  std::string version;  // first line of --version
};

// g++ 12 or newer, otherwise clang++ 14 or newer, on the usual system folders.
std::optional<HostCompiler> find_host_compiler();

struct CompilerSettings {
  HostCompiler host;
  std::filesystem::path device_headers;  // holds kw_cuda.h
  Dialect dialect = Dialect::cuda;
  std::filesystem::path scratch;          // a private folder for intermediate files; emptied after each call
  double deadline_s = 30;                 // wall clock for one compilation; past it: Rejected{limit}
  size_t memory_bytes = size_t{2} << 30;  // address space of the compiler
};

// Throws core::SystemError when the compiler itself cannot be run.
Compilation compile(const CompileRequest& request, const CompilerSettings& settings);

std::vector<std::string> check_entry_points();

}  // namespace sandbox::cpu::compiler
