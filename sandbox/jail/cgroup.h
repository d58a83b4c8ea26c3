// A cgroup (version 2) for each worker: level 4 of the sandbox. What it may have of memory and processes is the
// kernel's to count, and nothing that it started outlives it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "core/unique_fd.h"
#include "sandbox/jail/jail.h"

namespace sandbox::jail {

struct CgroupLimits {
  size_t memory_bytes = size_t{16} << 30;  // or 7/8 of what the host has, whichever is less
  int processes = 1024;                    // threads count
};

// Where this process may make cgroups: its own cgroup where that can hand out memory and processes, else, for a user
// other than root, the nearest around it that does and can be written. `root` is "/" but in tests: below it are
// proc/self and the mount.
std::variant<std::filesystem::path, Shortfall> find_cgroup_parent(const std::filesystem::path& root = "/");

// Ends and removes what programs left there that no longer live (after a kill -9).
void sweep_stale_cgroups(const std::filesystem::path& parent);

class Cgroup {
 public:
  // Empty, with the limits set. Not for use by two threads at once.
  static std::variant<Cgroup, Shortfall> make(const CgroupLimits& limits);
  static std::variant<Cgroup, Shortfall> make_in(const std::filesystem::path& parent, const CgroupLimits& limits);
  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&& other) noexcept;
  // Ends every process in it, and removes it.
  ~Cgroup();

  // To write "0" to, by the process that is to go in; async-signal-safe.
  int entrance() const { return entrance_.get(); }
  bool holds(int pid) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  Cgroup(std::filesystem::path folder, core::UniqueFd entrance);
  void remove();

  std::filesystem::path folder_;  // empty: nothing is owned
  core::UniqueFd entrance_;
};

}  // namespace sandbox::jail
