#include "verifier/cuda/cell_client.h"

#include <utility>

#include "core/error.h"
#include "sandbox/wire.h"

namespace verifier::cuda {
namespace {
using core::Json;

std::optional<CellFailure> failure_of(std::variant<CellChannel::Answer, CellFailure> answer) {
  if (auto* failure = std::get_if<CellFailure>(&answer)) return std::move(*failure);
  return std::nullopt;
}
}  // namespace

std::optional<CellFailure> CellClient::prepare(const std::vector<std::vector<const LentBuffer*>>& slots,
                                               const sandbox::LaunchPlan& plan, Json shape) {
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

std::variant<Launched, CellFailure> CellClient::timed(const Json& request) {
  auto asked = channel_.ask(request);
  if (auto* failure = std::get_if<CellFailure>(&asked)) return std::move(*failure);
  const CellChannel::Answer& answer = std::get<CellChannel::Answer>(asked);
  try {
    const core::JsonView json(answer.json, "cell's answer");
    const Launched launched{json.at("us").number(), json.at("gated").boolean()};
    // What the device says it took cannot be more than what passed on the judge's own clock, nor nothing.
    if (launched.us >= 0 && launched.us <= answer.elapsed_us) return launched;
  } catch (const core::InputError&) {
  }
  return CellFailure(CellDied{});
}

std::variant<Launched, CellFailure> CellClient::go(size_t slots, bool hot) {
  return timed({{"op", "go"}, {"slots", slots}, {"hot", hot}});
}

std::variant<Launched, CellFailure> CellClient::ping() { return timed({{"op", "ping"}}); }

}  // namespace verifier::cuda
