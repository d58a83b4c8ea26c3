#include "verifier/devices/cpu/candidate_process.h"

#include "sandbox/wire.h"

namespace verifier::devices::cpu {
namespace {
using core::Json;
}  // namespace

std::optional<judging::ProcessFailure> CandidateProcess::ask(const Json& request, const std::vector<int>& fds,
                                                             double* elapsed_us) {
  auto answer = channel_.ask(request, fds);
  if (auto* failure = std::get_if<judging::ProcessFailure>(&answer)) return std::move(*failure);
  if (elapsed_us != nullptr)
    *elapsed_us = std::get<judging::CandidateChannel::Answer>(answer).json.at("elapsed_us").get<double>();
  return std::nullopt;
}

std::optional<judging::ProcessFailure> CandidateProcess::prepare(const std::vector<LentBuffer>& inputs,
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

std::optional<judging::ProcessFailure> CandidateProcess::go(sandbox::cpu::runtime::Order order, uint64_t seed,
                                                            double& elapsed_us) {
  return ask({{"op", "go"}, {"order", static_cast<int>(order)}, {"seed", seed}}, {}, &elapsed_us);
}

std::optional<judging::ProcessFailure> CandidateProcess::ping(double& elapsed_us) {
  return ask({{"op", "ping"}}, {}, &elapsed_us);
}

}  // namespace verifier::devices::cpu
