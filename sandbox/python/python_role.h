// The jail of Python workers: a role that locks itself and then becomes an interpreter.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace sandbox::python {

struct PythonRoleSettings {
  std::filesystem::path interpreter;
  std::vector<std::string> arguments;          // of the interpreter; --greeting and the jail's report follow
  std::vector<std::filesystem::path> folders;  // which it may read; those of the system's libraries come on top
  std::vector<std::string> environment;        // "NAME=value"
  size_t memory_mib = 0;                       // private memory; 0: no limit
  size_t processor_s = 0;                      // 0: no limit
  bool gpu = false;                            // opens the NVIDIA driver: no namespaces, and its device files
  // A folder that it may write to. If set, it may also start compilers: the system's programs and headers can be read.
  std::filesystem::path scratch;
};

// Enters the jail and replaces this program by the interpreter. It has no network, no processes of its own, and files
// to read only, but for a scratch folder; it keeps the channel to its owner (sandbox/process/worker.h) and sends the
// greeting that its last argument holds. All that it starts ends with its process group or its owner. Throws
// core::SystemError when that fails.
[[noreturn]] void become_python(const PythonRoleSettings& settings);

}  // namespace sandbox::python
