// The jail of worker processes. A worker locks itself before it sees any untrusted byte, and reports the level that it
// reached.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/strict_json.h"

namespace sandbox::jail {

// Sandbox levels, each including those before it.
//   0: closed descriptors, empty environment, rlimits, parent-death signal
//   1: no_new_privs and seccomp
//   2: Landlock, verified by opening a forbidden file
//   3: own namespaces, and no capabilities (namespaces.h)
//   4: its own cgroup (cgroup.h), made by the owner
constexpr int kHighestLevel = 4;

// The reason why this host lacks something, and the remedy: one sentence each, without a full stop.
struct Shortfall {
  std::string why, remedy;
};

// The sandbox level that a worker reached.
struct JailReport {
  int level = 0;
  std::vector<std::string> held;     // "seccomp", "Landlock ABI 7", ...
  std::optional<Shortfall> missing;  // the obstacle to the next level

  // Adds the next level: `what` provides it, unless `shortfall` says why it is missing.
  void add(int level_of_it, const std::string& what, const std::optional<Shortfall>& shortfall);
  // "seccomp, Landlock ABI 7; not level 3: this container forbids user namespaces".
  std::string sentence() const;

  // Adds the fields of a worker's greeting: "sandbox_level", "sandbox" (the sentence), "sandbox_held",
  // "sandbox_missing".
  void describe(core::Json& facts) const;
  static JailReport of(const core::Json& facts);
};

// Namespaces that a worker entered before its jail.
struct Namespaces {
  std::string names;  // "namespaces (user, network, IPC, UTS)"
  std::optional<Shortfall> missing = Shortfall{"this worker stays in the host's namespaces", "there is no way"};
};

// The system calls and files that a locked process keeps.
enum class JailProfile {
  compile,             // files below the given folders; may start the host compiler
  library_compile,     // files below the given folders, for a compiler that is a library
  scratch_compile,     // the same, for one that writes files below its scratch folder
  run,                 // may fork candidate processes
  judge,               // memory; may load reference modules
  candidate,           // a candidate process: only non-executable memory, its channel, stopping itself, exit
  python,              // an interpreter of files below the given folders: threads, and no other processes
  gpu_python,          // the same, and it opens an NVIDIA driver: sockets that wait and are never connected
  python_compile,      // as python, and it may start processes, which stay in its process group
  gpu_python_compile,  // both
  gpu,                 // an open NVIDIA driver: its device files below the given folders
};

struct JailLimits {
  size_t address_space_bytes = size_t{16} << 30;  // 0: no limit; ignored in builds with a sanitizer
  size_t file_bytes = size_t{256} << 20;
  unsigned open_files = 512;
  size_t processor_s = 0;          // 0: no limit
  size_t data_bytes = 0;           // private memory; 0: no limit
  int channel = -1;                // of a candidate process: its only permitted channel
  int most_level = kHighestLevel;  // lowered by tests that check lower levels
};

struct JailFolders {
  std::vector<std::filesystem::path> read_only;  // may also be executed
  std::vector<std::filesystem::path> read_write;
};

// Applies limits, Landlock and seccomp to the calling process, in this order, as far as the host supports them.
// Irrevocable. Throws core::SystemError when limits are refused.
JailReport enter_jail(JailProfile profile, const JailFolders& folders, const JailLimits& limits,
                      const Namespaces& namespaces = {});

// The Landlock ABI of the running kernel; 0 if there is none.
int landlock_abi();

// Restricts the calling process to the given folders, and verifies that the restriction holds; nullopt on success.
// Throws core::SystemError for a folder for which the kernel accepts no rule.
std::optional<Shortfall> enter_landlock(const JailFolders& folders);

// Restricts the calling process to the system calls of its profile; a candidate process may use this channel alone.
// nullopt on success.
std::optional<Shortfall> enter_seccomp(JailProfile profile, int channel);

}  // namespace sandbox::jail
