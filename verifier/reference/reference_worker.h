// The Python worker that computes a problem's reference.py, from its owner's side. It never sees a candidate or a
// verdict: its owner shows it the problem, and judge workers ask it for outputs over channels of their own.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "benchsuite/problem.h"
#include "core/unique_fd.h"
#include "sandbox/process/worker.h"

namespace verifier::reference {

class ReferenceWorker {
 public:
  // Throws core::SystemError when it does not start.
  explicit ReferenceWorker(sandbox::process::WorkerCommand command);

  // Loads the problem's reference.py and tries it on the smallest test workload. Throws core::InputError with what is
  // wrong about it, core::SystemError when the worker fails otherwise.
  void use_problem(const benchsuite::Problem& problem);
  // Whether its reference.py has a function inputs().
  bool draws_inputs() const { return draws_inputs_; }
  // Starts the worker anew with the same problem if it died, and returns whether it did.
  bool revive();

  // The judge's end of a channel over which it asks for the truth (reference_channel.h).
  core::UniqueFd open_truth();
  // The judge's end of the channel of a process that computes forward() in the contract's dtypes, as a candidate
  // process does its plan.
  core::UniqueFd open_eager();
  // The same for a problem's equivalents.pytorch, which the worker first tries on the smallest test workload. Needs no
  // problem in use.
  struct WrongEquivalent {
    std::string workload, why;
  };
  struct LackingPytorch {  // it does not have what the equivalent calls
    std::string why;
  };
  std::variant<core::UniqueFd, WrongEquivalent, LackingPytorch> open_equivalent(const benchsuite::Problem& problem);

  const core::Json& greeting() const { return worker_.greeting(); }
  int pid() const { return worker_.pid(); }

 private:
  core::UniqueFd open(const char* what);
  static core::UniqueFd opened_by(sandbox::process::Message opened);
  sandbox::process::Message request(const core::Json& json, const std::vector<int>& fds = {});

  sandbox::process::WorkerCommand command_;
  sandbox::process::Worker worker_;
  std::optional<benchsuite::Problem> problem_;
  bool draws_inputs_ = false;
};

}  // namespace verifier::reference
