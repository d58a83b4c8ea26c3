#include "verifier/judging/candidate_channel.h"

#include <type_traits>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/wire.h"

namespace verifier::judging {
namespace {
using Clock = std::chrono::steady_clock;
constexpr size_t kMaxMessageBytes = 2000;
}  // namespace

std::variant<CandidateChannel::Answer, ProcessFailure> CandidateChannel::await(const char* expected,
                                                                               Clock::time_point asked,
                                                                               std::chrono::duration<double> deadline) {
  try {
    std::optional<sandbox::process::Message> answer =
        channel_.receive(asked + std::chrono::duration_cast<Clock::duration>(deadline));
    const Clock::time_point answered = Clock::now();
    if (!answer) return ProcessFailure(ProcessSilent{deadline.count()});
    const core::JsonView json(answer->json, "candidate process's answer");
    if (json.has("fault")) {
      sandbox::Fault fault = sandbox::fault_from_json(json.at("fault"));
      fault.message = core::clean_line(fault.message, kMaxMessageBytes);
      fault.kernel = core::clean_line(fault.kernel, 64);
      return ProcessFailure(std::move(fault));
    }
    if (json.has("refused")) {
      const std::string why = core::clean_line(json.at("refused").string(), kMaxMessageBytes);
      return ProcessFailure(ProcessRefused{why.empty() ? "refused where it was loaded, for no stated reason" : why});
    }
    if (!json.has(expected)) return ProcessFailure(ProcessDied{});
    return Answer{std::move(answer->json), std::chrono::duration<double, std::micro>(answered - asked).count()};
  } catch (const sandbox::process::ChannelClosed&) {
    return ProcessFailure(ProcessDied{});
  } catch (const core::InputError&) {  // an answer that is not one
    return ProcessFailure(ProcessDied{});
  }
}

std::variant<CandidateChannel::Answer, ProcessFailure> CandidateChannel::ask(const core::Json& request,
                                                                             const std::vector<int>& fds) {
  return ask(request, fds, deadline_);
}

std::variant<CandidateChannel::Answer, ProcessFailure> CandidateChannel::ask(const core::Json& request,
                                                                             const std::vector<int>& fds,
                                                                             std::chrono::duration<double> deadline,
                                                                             const std::function<void()>& meanwhile) {
  Clock::time_point asked = Clock::now();
  try {
    // An answer before its question: the candidate speaks for its process.
    if (channel_.receive(asked)) return ProcessFailure(ProcessDied{});
    asked = Clock::now();
    channel_.send(request, fds);
  } catch (const sandbox::process::ChannelClosed&) {
    return ProcessFailure(ProcessDied{});
  }
  meanwhile();
  return await("ok", asked, deadline);
}

std::optional<ProcessFailure> CandidateChannel::await_loaded() {
  auto answer = await("loaded", Clock::now(), deadline_);
  return failure_of(std::move(answer));
}

std::optional<ProcessFailure> failure_of(std::variant<CandidateChannel::Answer, ProcessFailure> answer) {
  if (auto* failure = std::get_if<ProcessFailure>(&answer)) return std::move(*failure);
  return std::nullopt;
}

verdicts::Verdict verdict_of(const ProcessFailure& failure, const verdicts::Where& where) {
  const auto somewhere = where.workload.empty() ? std::nullopt : std::optional(where);
  return std::visit(
      [&](const auto& f) -> verdicts::Verdict {
        using T = std::decay_t<decltype(f)>;
        if constexpr (std::is_same_v<T, sandbox::Fault>) {
          if (f.kind == sandbox::FaultKind::invalid_launch) {
            return verdicts::InvalidPlan{(f.kernel.empty() ? "" : "kernel " + f.kernel + ": ") + f.message};
          }
          return verdicts::Faulted{where, f};
        }
        if constexpr (std::is_same_v<T, ProcessRefused>) {
          return verdicts::CompileFailed{sandbox::Rejection::forbidden, f.message, std::nullopt};
        }
        if constexpr (std::is_same_v<T, ProcessSilent>) return verdicts::TimedOut{somewhere, f.limit_s};
        return verdicts::Crashed{somewhere, 0};
      },
      failure);
}

}  // namespace verifier::judging
