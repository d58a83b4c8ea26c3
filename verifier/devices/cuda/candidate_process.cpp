#include "verifier/devices/cuda/candidate_process.h"

#include <utility>

#include "core/error.h"
#include "sandbox/wire.h"

namespace verifier::devices::cuda {
namespace {
using core::Json;

std::optional<judging::ProcessFailure> failure_of(
    std::variant<judging::CandidateChannel::Answer, judging::ProcessFailure> answer) {
  if (auto* failure = std::get_if<judging::ProcessFailure>(&answer)) return std::move(*failure);
  return std::nullopt;
}
}  // namespace

std::optional<judging::ProcessFailure> CandidateProcess::prepare(
    const std::vector<std::vector<const LentBuffer*>>& slots, const sandbox::LaunchPlan& plan, Json shape) {
  Json buffers = Json::array();
  std::vector<int> descriptors;
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    for (const LentBuffer* lent : slots[slot]) {
      buffers.push_back({{"name", lent->name()},
                         {"slot", slot},
                         {"bytes", lent->buffer().bytes},
                         {"mapped_bytes", lent->mapped_bytes()},
                         {"offset", lent->offset()},
                         {"writable", lent->writable()}});
      descriptors.push_back(lent->descriptor());
    }
  }
  shape["op"] = "map";
  shape["buffers"] = std::move(buffers);
  auto failure = failure_of(channel_.ask(shape, descriptors, prepare_deadline_));
  if (failure) return failure;
  Json request = to_json(plan);
  request["op"] = "plan";
  return failure_of(channel_.ask(request, {}, prepare_deadline_));
}

std::variant<Launched, judging::ProcessFailure> CandidateProcess::timed(const Json& request) {
  auto asked = channel_.ask(request);
  if (auto* failure = std::get_if<judging::ProcessFailure>(&asked)) return std::move(*failure);
  const judging::CandidateChannel::Answer& answer = std::get<judging::CandidateChannel::Answer>(asked);
  try {
    const core::JsonView json(answer.json, "cell's answer");
    const Launched launched{json.at("us").number(), json.at("gated").boolean()};
    // What the device says it took cannot be more than what passed on the judge's own clock, nor nothing.
    if (launched.us >= 0 && launched.us <= answer.elapsed_us) return launched;
  } catch (const core::InputError&) {
  }
  return judging::ProcessFailure(judging::ProcessDied{});
}

std::variant<Launched, judging::ProcessFailure> CandidateProcess::go(size_t slots, bool hot) {
  return timed({{"op", "go"}, {"slots", slots}, {"hot", hot}});
}

std::variant<Launched, judging::ProcessFailure> CandidateProcess::ping() { return timed({{"op", "ping"}}); }

}  // namespace verifier::devices::cuda
