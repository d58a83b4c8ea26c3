// The cells of a run worker: started, let go on for each request of the judge, and collected. It stands between the
// two: a cell runs from a request until it has stopped or ended, and only then its answer is passed on, with the time
// that a processor has spent on it meanwhile, whoever else wanted the processor.
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
  // What a cell's process does with its end of the channel; it never returns.
  using Serve = std::function<void(process::Channel worker, core::UniqueFd binary, Build build)>;
  // Throws core::SystemError. One at a time in a process: it takes SIGCHLD.
  CandidateProcesses(process::Channel& owner, Serve serve);

  // Serves the judges of all cells until the owner has a request, or hangs up.
  void serve_judges();
  // As in run_role.h. Throw core::SystemError.
  void open(process::Message request);
  void close(pid_t pid);

 private:
  struct Held {
    pid_t pid;
    process::Channel cell, judge;  // both closed: it said what no cell says, or is gone
    bool running;
    double spent_us;  // processor time until it last went on
  };

  [[noreturn]] void become_cell(process::Channel worker, core::UniqueFd binary, Build build);
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
