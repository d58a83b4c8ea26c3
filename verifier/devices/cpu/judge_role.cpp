#include "verifier/devices/cpu/judge_role.h"

#include <chrono>
#include <optional>
#include <utility>

#include "core/error.h"
#include "sandbox/jail/jail.h"
#include "sandbox/jail/namespaces.h"
#include "verifier/devices/cpu/checking.h"
#include "verifier/devices/cpu/paired_launches.h"
#include "verifier/judging/messages.h"
#include "verifier/judging/paired_timing.h"

namespace verifier::devices::cpu {
namespace {
using core::Json;
using core::JsonView;
using Clock = std::chrono::steady_clock;
constexpr uint64_t kLookingSeed = 1;  // the same problem is refused or taken, always

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

TrustedSolution load_trusted(const JsonView& json, int binary_fd, bool wide_outputs) {
  judging::NamedPlan plan = judging::plan_from_json(json, "trusted solution");
  return TrustedSolution(sandbox::cpu::runtime::Module::load(binary_fd, sandbox::Build::fast), std::move(plan.solution),
                         std::move(plan.binding), wide_outputs);
}

class JudgeRole {
 public:
  Json answer(sandbox::process::Message& message) {
    const JsonView json(message.json, "judge request");
    if (json.at("op").string() == "problem") return learn(json, message);
    if (!oracle_) throw core::SystemError("the judge was asked before it knew a problem");
    return to_json(judge(json, message));
  }

 private:
  Json learn(const JsonView& json, sandbox::process::Message& message) {
    benchsuite::Problem problem = benchsuite::parse_problem(json.at("problem").string(), "problem.json");
    oracle_.reset();
    oracle_.emplace(std::move(problem), load_trusted(json.at("reference"), message.fds.at(0).get(), true),
                    load_trusted(json.at("naive"), message.fds.at(1).get(), false));
    if (!json.at("look").boolean()) return {{"ok", true}};
    const auto run = [&](const core::Bindings& axes, const judging::TensorBytes& inputs) {
      return oracle_->run_trusted(axes, inputs);
    };
    const auto found = judging::find_independence(oracle_->problem(), "cpu", kLookingSeed, run);
    if (!found) return {{"ok", true}};
    return {{"refused", found->problem}, {"remedy", found->remedy}};
  }

  static Contender side(const JsonView& json, core::UniqueFd channel, double deadline_s) {
    judging::NamedPlan plan = judging::plan_from_json(json, "candidate");
    return {std::move(plan.solution), std::move(plan.binding),
            CandidateProcess(sandbox::process::Channel(std::move(channel)), std::chrono::duration<double>(deadline_s))};
  }

  verdicts::Judgement judge(const JsonView& json, sandbox::process::Message& message) {
    const verdicts::CheckSettings checks = judging::check_settings_from_json(json.at("check"));
    const verdicts::Effort effort = verdicts::effort_from_name(json.at("effort").string()).value();
    verdicts::Judgement judgement{verdicts::Correct{}, {}, {}, json.at("seed").json().get<uint64_t>()};
    statistics::Keys keys(judgement.seed);
    Contender incumbent = side(json.at("incumbent"), std::move(message.fds.at(0)), checks.launch_deadline_s);
    Contender fast = side(json.at("candidate"), std::move(message.fds.at(1)), checks.launch_deadline_s);

    Clock::time_point begin = Clock::now();
    Checking checking(*oracle_, checks, keys);
    std::optional<verdicts::Verdict> failed;
    if (effort != verdicts::Effort::screen) {
      Contender check = side(json.at("candidate"), std::move(message.fds.at(2)), checks.launch_deadline_s);
      failed = checking.check_build(check, effort == verdicts::Effort::confirm);
    }
    if (!failed)
      failed = checking.fast_build(fast, effort != verdicts::Effort::screen, effort == verdicts::Effort::confirm);
    judgement.stages.check_ms = ms_since(begin);
    if (failed) {
      judgement.verdict = std::move(*failed);
      return judgement;
    }
    judgement.verdict = checking.findings();

    begin = Clock::now();
    judging::PairedTiming timing(oracle_->problem(), "cpu", "cpu-rough",
                                 judging::timing_settings_from_json(json.at("timing")), effort, keys);
    if (incumbent.process.await_loaded()) throw core::SystemError("the incumbent cannot be loaded any more");
    auto measured = timing.measure([&](const benchsuite::Workload& workload) {
      return open_paired_launches(*oracle_, workload.axes, fast, incumbent);
    });
    judgement.stages.audit_ms = timing.audit_ms();
    judgement.stages.timing_ms = ms_since(begin) - timing.audit_ms();
    if (auto* verdict = std::get_if<verdicts::Verdict>(&measured)) {
      judgement.verdict = std::move(*verdict);
    } else {
      judgement.measurement = std::move(std::get<std::optional<verdicts::Measurement>>(measured));
    }
    return judgement;
  }

  std::optional<Oracle> oracle_;
};
}  // namespace

void serve_judge_role(sandbox::process::Channel& owner) {
  sandbox::jail::JailLimits limits;
  limits.address_space_bytes = 0;
  const sandbox::jail::Namespaces namespaces = sandbox::jail::enter_namespaces(sandbox::jail::Pids::shared);
  Json greeting{{"role", "judge"}};
  sandbox::jail::enter_jail(sandbox::jail::JailProfile::judge, {}, limits, namespaces).describe(greeting);
  owner.send(greeting);
  JudgeRole role;
  sandbox::process::serve(owner, [&](sandbox::process::Message request) { owner.send(role.answer(request)); });
}

}  // namespace verifier::devices::cpu
