// The run workers of one device, where candidates' processes are opened.
#pragma once

#include <deque>
#include <optional>

#include "core/error.h"
#include "core/unique_fd.h"
#include "sandbox/compilation.h"
#include "sandbox/process/worker.h"
#include "verifier/judging/paired_launches.h"

namespace verifier::judging {

// The judge's end of a candidate process's channel, and what its worker calls it.
struct OpenProcess {
  Side side;
  int id = 0;
  core::UniqueFd judge_end;
};

// On the cpu device one worker forks a process for every candidate process. On a GPU each side's candidate processes
// live in a worker of their own, whose context no other candidate has been in: neither can see the other's memory. Not
// for use by two threads at once.
class RunWorkers {
 public:
  enum class Kind { forking, one_per_side };

  RunWorkers(sandbox::process::WorkerCommand command, Kind kind);

  // Throws sandbox::process::WorkerLost, core::SystemError.
  OpenProcess open(Side side, const sandbox::Built& built, sandbox::Build build);
  // Hangs up. How it ended: {"killed": true}, or {"signal": n}, {"exit": n}, {"failed": true} where it ended by itself.
  core::Json close(OpenProcess& process);

  // On a GPU: a kernel whose result is known, launched in every worker before it gets a candidate.
  void set_known_good(core::UniqueFd cubin);
  // A new process, after the one that the side's candidate processes were in is lost or not to be trusted. On a GPU it
  // has been started beforehand, and computes the known-good kernel first: where that fails twice, DeviceSetAside.
  void replace(Side side);
  void replace_all();

  const core::Json& greeting() const { return incumbent_->greeting(); }

 private:
  sandbox::process::Worker& worker_of(Side side);
  sandbox::process::Worker next();
  void prove(sandbox::process::Worker& worker);

  sandbox::process::WorkerCommand command_;
  Kind kind_;
  std::optional<sandbox::process::Worker> incumbent_, candidate_;
  std::deque<sandbox::process::Worker> spares_;  // launched; the first is the oldest
  core::UniqueFd known_good_;
};

// A device that does not compute rightly any more.
class DeviceSetAside : public core::SystemError {
 public:
  using SystemError::SystemError;
};

}  // namespace verifier::judging
