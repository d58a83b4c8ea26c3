// The candidate processes of a run worker. A process runs from a judge's request until it has stopped or ended; only
// then its answer is passed on, with the processor time that it used, whatever else ran meanwhile.
#pragma once

#include <sys/types.h>

#include <functional>
#include <list>

#include "core/unique_fd.h"
#include "sandbox/compilation.h"
#include "sandbox/process/channel.h"

namespace sandbox::cpu::run {

class CandidateProcesses {
 public:
  // Runs in the candidate process, on its end of the channel; never returns.
  using Serve = std::function<void(process::Channel worker, core::UniqueFd binary, Build build)>;
  // Throws core::SystemError. One at a time in a process: it takes SIGCHLD.
  CandidateProcesses(process::Channel& owner, Serve serve);

  // Serves the judges of all candidate processes until the owner has a request or hangs up.
  void serve_judges();
  // As in run_role.h. Throw core::SystemError.
  void open(process::Message request);
  void close(pid_t pid);

 private:
  struct Held {
    pid_t pid;
    process::Channel candidate, judge;  // both closed: it said what no candidate process says, or is gone
    bool running;
    double spent_us;  // processor time until it last went on
  };

  [[noreturn]] void become_candidate(process::Channel worker, core::UniqueFd binary, Build build);
  static void pass_on_request(Held& held);
  void look_for_stopped();
  static void pass_on_answer(Held& held, double elapsed_us);
  static void hang_up(Held& held);

  process::Channel& owner_;
  Serve serve_;
  core::UniqueFd children_;  // readable when one of them stopped, went on or ended
  std::list<Held> held_;
};

}  // namespace sandbox::cpu::run
