// A cgroup (version 2) for each worker: level 4 of the sandbox. The kernel limits its memory and processes, and kills
// everything that it started.
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
  size_t memory_bytes = size_t{16} << 30;  // or 7/8 of the host's, whichever is less
  int processes = 1024;                    // including threads
};

// The cgroup in which this process may create others: its own if that can delegate memory and processes; otherwise,
// except for root, the nearest writable ancestor that can. `root`: contains proc/self and the mount; "/" except in
// tests.
std::variant<std::filesystem::path, Shortfall> find_cgroup_parent(const std::filesystem::path& root = "/");

// Kills and removes cgroups of programs that no longer run (after a kill -9).
void sweep_stale_cgroups(const std::filesystem::path& parent);

class Cgroup {
 public:
  // Creates an empty cgroup with limits. Not thread-safe.
  static std::variant<Cgroup, Shortfall> make(const CgroupLimits& limits);
  static std::variant<Cgroup, Shortfall> make_in(const std::filesystem::path& parent, const CgroupLimits& limits);
  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&& other) noexcept;
  // Kills every process in the cgroup and removes it.
  ~Cgroup();

  // A process that writes "0" here enters the cgroup; async-signal-safe.
  int entrance() const { return entrance_.get(); }
  bool holds(int pid) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  Cgroup(std::filesystem::path folder, core::UniqueFd entrance);
  void remove();

  std::filesystem::path folder_;  // empty: owns nothing
  core::UniqueFd entrance_;
};

}  // namespace sandbox::jail
