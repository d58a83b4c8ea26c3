// The jail of worker processes. A worker locks itself, before it sees any untrusted byte, and reports how far it got.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace sandbox {

// What a locked process may still ask of the kernel.
enum class JailProfile {
  compile,          // files below the given folders, and to start the host compiler
  library_compile,  // files below the given folders: a compiler that is a library
  run,              // to start cells: forks of itself that hold one candidate each
  judge,            // memory, and to load reference modules
  cell,             // memory, its channel, and to exit: nothing else
  gpu,              // an NVIDIA driver that is already open: its device files below the given folders
};

struct JailLimits {
  size_t address_space_bytes = size_t{16} << 30;  // 0: no limit; not applied where we are built with a sanitizer
  size_t file_bytes = size_t{256} << 20;
  unsigned open_files = 128;
  unsigned processor_s = 0;  // 0: no limit
};

struct JailFolders {
  std::vector<std::filesystem::path> read_only;  // may also be executed
  std::vector<std::filesystem::path> read_write;
};

// Sandbox levels, each including those before it.
//   0: closed descriptors, empty environment, rlimits, parent-death signal
//   1: no_new_privs and seccomp
//   2: Landlock
struct JailReport {
  int level = 0;
  std::string detail;  // "Landlock ABI 7", or why the level is not higher
};

// Applies limits, then Landlock, then seccomp to the calling process. Irrevocable. Throws core::SystemError when limits
// or seccomp are refused; Landlock is used where the kernel has it.
JailReport enter_jail(JailProfile profile, const JailFolders& folders, const JailLimits& limits);

// The Landlock ABI of the running kernel; 0 when there is none.
int landlock_abi();

}  // namespace sandbox
