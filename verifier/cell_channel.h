// A cell as the judge sees it: a channel to a process that it must not trust. Whatever comes back is either the
// expected answer or a failure of the candidate.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sandbox/process/channel.h"
#include "sandbox/fault.h"
#include "verifier/verdict.h"

namespace verifier {

struct CellRefused {  // the binary was not loaded
  std::string message;
};
struct CellDied {};  // or answered what no honest cell answers; its owner knows the signal
struct CellSilent {  // no answer within the deadline
  double limit_s;
};
using CellFailure = std::variant<sandbox::Fault, CellRefused, CellDied, CellSilent>;

// The verdict that a failure of the candidate's cell amounts to. (A crash's signal is known to the cell's owner only.)
Verdict verdict_of(const CellFailure& failure, const Where& where);

class CellChannel {
 public:
  CellChannel(sandbox::process::Channel channel, std::chrono::duration<double> deadline)
      : channel_(std::move(channel)), deadline_(deadline) {}

  // An answer, and the time from request to answer on the judge's clock, which no candidate can reach.
  struct Answer {
    core::Json json;
    double elapsed_us = 0;
  };
  // Waits until the candidate is loaded and can do nothing else any more.
  std::optional<CellFailure> await_loaded();
  std::variant<Answer, CellFailure> ask(const core::Json& request, const std::vector<int>& fds = {});
  // For what may take longer than a launch.
  std::variant<Answer, CellFailure> ask(const core::Json& request, const std::vector<int>& fds,
                                        std::chrono::duration<double> deadline);

 private:
  std::variant<Answer, CellFailure> await(const char* expected, std::chrono::steady_clock::time_point asked,
                                          std::chrono::duration<double> deadline);

  sandbox::process::Channel channel_;
  std::chrono::duration<double> deadline_;
};

}  // namespace verifier
