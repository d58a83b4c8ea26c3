#include "verifier/cpu/cell_client.h"

#include "sandbox/wire.h"

namespace verifier::cpu {
namespace {
using core::Json;
}  // namespace

std::optional<CellFailure> CellClient::ask(const Json& request, const std::vector<int>& fds, double* elapsed_us) {
  auto answer = channel_.ask(request, fds);
  if (auto* failure = std::get_if<CellFailure>(&answer)) return std::move(*failure);
  if (elapsed_us != nullptr) *elapsed_us = std::get<CellChannel::Answer>(answer).json.at("elapsed_us").get<double>();
  return std::nullopt;
}

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

std::optional<CellFailure> CellClient::go(sandbox::cpu::runtime::Order order, uint64_t seed, double& elapsed_us) {
  return ask({{"op", "go"}, {"order", static_cast<int>(order)}, {"seed", seed}}, {}, &elapsed_us);
}

std::optional<CellFailure> CellClient::ping(double& elapsed_us) { return ask({{"op", "ping"}}, {}, &elapsed_us); }

}  // namespace verifier::cpu
