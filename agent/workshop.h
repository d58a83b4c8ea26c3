// What judging on one device takes: compile workers, the judge with its workers, and the facts of this host.
#pragma once

#include <optional>
#include <string>

#include "agent/devices.h"
#include "agent/judge_crew.h"
#include "core/paths.h"
#include "core/strict_json.h"
#include "sandbox/compile_pool.h"

namespace agent {

class Workshop {
 public:
  // Starts every worker. `hot`: GPUs are timed with a warm L2 cache. Throws core::SystemError when a worker does not
  // start.
  Workshop(const core::Paths& paths, const DeviceChoice& choice, bool hot, int compile_workers);

  // What results are kept under: "cpu", "cuda NVIDIA H200".
  const std::string& device() const { return device_; }
  bool hot() const { return hot_; }
  // Why a solution cannot run here: another backend, or a newer architecture. nullopt when it can.
  std::optional<std::string> why_not(const sandbox::Solution& solution) const;
  sandbox::CompilePool& pool() { return pool_; }
  JudgeCrew& judges() { return judges_; }
  // Whatever may bear on a result: program version, processor, kernel, compiler, sandbox level. Nothing that names the
  // host or its user.
  core::Json environment() const;

 private:
  bool hot_;
  JudgeCrew judges_;
  core::Json run_greeting_, judge_greeting_;  // of the first judge
  std::string backend_, device_;
  sandbox::CompilePool pool_;
};

// Compile workers that run beside the judge without disturbing it: one per core but for the one it times on.
int background_compile_workers();

}  // namespace agent
