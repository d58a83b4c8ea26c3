// A candidate process as the judge sees it: a channel to a process that it must not trust. Whatever comes back is
// either the expected answer or a failure of the candidate.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sandbox/fault.h"
#include "sandbox/process/channel.h"
#include "verifier/verdicts/verdict.h"

namespace verifier::judging {

struct ProcessRefused {  // the binary was not loaded
  std::string message;
};
struct ProcessDied {};  // or answered what no honest candidate process answers; its owner knows the signal
struct ProcessSilent {  // no answer within the deadline
  double limit_s;
};
using ProcessFailure = std::variant<sandbox::Fault, ProcessRefused, ProcessDied, ProcessSilent>;

// The verdict that a failure of the candidate's process amounts to. (A crash's signal is known to the candidate
// process's owner only.)
verdicts::Verdict verdict_of(const ProcessFailure& failure, const verdicts::Where& where);

class CandidateChannel {
 public:
  CandidateChannel(sandbox::process::Channel channel, std::chrono::duration<double> deadline)
      : channel_(std::move(channel)), deadline_(deadline) {}

  // An answer, and the time from request to answer on the judge's clock, which no candidate can reach.
  struct Answer {
    core::Json json;
    double elapsed_us = 0;
  };
  // Waits until the candidate is loaded and can do nothing else any more.
  std::optional<ProcessFailure> await_loaded();
  std::variant<Answer, ProcessFailure> ask(const core::Json& request, const std::vector<int>& fds = {});
  // For what may take longer than a launch. Does `meanwhile` until it listens.
  std::variant<Answer, ProcessFailure> ask(
      const core::Json& request, const std::vector<int>& fds, std::chrono::duration<double> deadline,
      const std::function<void()>& meanwhile = [] {});

 private:
  std::variant<Answer, ProcessFailure> await(const char* expected, std::chrono::steady_clock::time_point asked,
                                             std::chrono::duration<double> deadline);

  sandbox::process::Channel channel_;
  std::chrono::duration<double> deadline_;
};

// The failure, if it is one.
std::optional<ProcessFailure> failure_of(std::variant<CandidateChannel::Answer, ProcessFailure> answer);

}  // namespace verifier::judging
