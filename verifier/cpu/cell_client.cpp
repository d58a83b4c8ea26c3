#include "verifier/cpu/cell_client.h"

#include "core/error.h"
#include "core/text.h"
#include "sandbox/wire.h"

namespace verifier::cpu {
namespace {
using Clock = std::chrono::steady_clock;
using core::Json;
constexpr size_t kMaxMessageBytes = 2000;
}  // namespace

std::optional<CellFailure> CellClient::await_answer(const char* expected, double* elapsed_us, Clock::time_point asked) {
  try {
    const auto deadline = asked + std::chrono::duration_cast<Clock::duration>(deadline_);
    const std::optional<sandbox::Message> answer = channel_.receive(deadline);
    const Clock::time_point answered = Clock::now();
    if (!answer) return CellSilent{deadline_.count()};
    const core::JsonView json(answer->json, "cell's answer");
    if (json.has("fault")) {
      sandbox::Fault fault = sandbox::fault_from_json(json.at("fault"));
      fault.message = core::clean_text(fault.message, kMaxMessageBytes);
      fault.kernel = core::clean_text(fault.kernel, 64);
      return fault;
    }
    if (json.has("refused")) return CellRefused{core::clean_text(json.at("refused").string(), kMaxMessageBytes)};
    if (!json.has(expected)) return CellDied{};
    if (elapsed_us != nullptr) *elapsed_us = std::chrono::duration<double, std::micro>(answered - asked).count();
    return std::nullopt;
  } catch (const sandbox::ChannelClosed&) {
    return CellDied{};
  } catch (const core::InputError&) {  // an answer that is not one
    return CellDied{};
  }
}

std::optional<CellFailure> CellClient::ask(const Json& request, const std::vector<int>& fds, double* elapsed_us) {
  Clock::time_point asked = Clock::now();
  try {
    // An answer before its question: the candidate speaks for its cell.
    if (channel_.receive(asked)) return CellDied{};
    asked = Clock::now();
    channel_.send(request, fds);
  } catch (const sandbox::ChannelClosed&) {
    return CellDied{};
  }
  return await_answer("ok", elapsed_us, asked);
}

std::optional<CellFailure> CellClient::await_loaded() { return await_answer("loaded", nullptr, Clock::now()); }

std::optional<CellFailure> CellClient::prepare(const std::vector<LentBuffer>& inputs,
                                               const std::vector<LentBuffer>& outputs,
                                               const sandbox::LaunchPlan& plan) {
  Json buffers = Json::array();
  std::vector<int> fds;
  for (const auto* group : {&inputs, &outputs}) {
    for (const LentBuffer& buffer : *group) {
      buffers.push_back(
          {{"name", buffer.name}, {"bytes", buffer.memory.content().size()}, {"writable", buffer.writable}});
      fds.push_back(buffer.fd.get());
    }
  }
  if (auto failure = ask({{"op", "map"}, {"buffers", std::move(buffers)}}, fds, nullptr)) return failure;
  Json launches = Json::array();
  for (const sandbox::PlannedLaunch& launch : plan.launches) launches.push_back(to_json(launch));
  Json zeroed = Json::array();
  for (const sandbox::PlannedWorkspace& workspace : plan.workspaces) {
    if (workspace.zeroed) zeroed.push_back(workspace.name);
  }
  return ask({{"op", "plan"}, {"launches", std::move(launches)}, {"zeroed", std::move(zeroed)}}, {}, nullptr);
}

std::optional<CellFailure> CellClient::go(sandbox::cpu::Order order, uint64_t seed, double& elapsed_us) {
  return ask({{"op", "go"}, {"order", static_cast<int>(order)}, {"seed", seed}}, {}, &elapsed_us);
}

std::optional<CellFailure> CellClient::ping(double& elapsed_us) { return ask({{"op", "ping"}}, {}, &elapsed_us); }

}  // namespace verifier::cpu
