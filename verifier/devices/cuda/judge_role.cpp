#include "verifier/devices/cuda/judge_role.h"

#include <chrono>
#include <optional>
#include <utility>

#include "core/error.h"
#include "sandbox/cuda/driver/nvml.h"
#include "sandbox/cuda/run/gpu_jail.h"
#include "sandbox/process/sealed_memory.h"
#include "verifier/devices/cuda/calibration.h"
#include "verifier/devices/cuda/checking.h"
#include "verifier/devices/cuda/paired_launches.h"
#include "verifier/judging/messages.h"
#include "verifier/judging/paired_timing.h"

namespace verifier::devices::cuda {
namespace {
using core::Json;
using core::JsonView;
using Clock = std::chrono::steady_clock;
constexpr uint64_t kLookingSeed = 1;  // the same problem is refused or taken, always

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

class JudgeRole {
 public:
  JudgeRole(const Context& context, const sandbox::cuda::driver::ClockMonitor& clocks)
      : context_(context), clocks_(clocks) {}

  Json answer(sandbox::process::Message& message) {
    const JsonView json(message.json, "judge request");
    const std::string op = json.at("op").string();
    if (op == "kernels") {
      oracle_.reset();
      work_.emplace(context_, sandbox::process::read_memory(message.fds.at(0).get()));
      return {{"ok", true}};
    }
    if (op == "calibrate") {
      const std::string kernels = sandbox::process::read_memory(message.fds.at(0).get());
      return {{"calibration",
               to_json(measure_device(context_, kernels, sandbox::process::read_memory(message.fds.at(1).get())))}};
    }
    if (!work_) throw core::SystemError("the judge was asked before it had its kernels");
    if (op == "problem") return learn(json, message);
    if (!oracle_) throw core::SystemError("the judge was asked before it knew a problem");
    return to_json(judge(json, message));
  }

 private:
  TrustedSolution load_trusted(const JsonView& json, int binary, bool wide_outputs) {
    judging::NamedPlan plan = judging::plan_from_json(json, "trusted solution");
    return TrustedSolution(context_, sandbox::process::read_memory(binary), std::move(plan.solution),
                           std::move(plan.binding), wide_outputs);
  }

  Json learn(const JsonView& json, sandbox::process::Message& message) {
    benchsuite::Problem problem = benchsuite::parse_problem(json.at("problem").string(), "problem.json");
    oracle_.reset();
    oracle_.emplace(context_, *work_, std::move(problem),
                    load_trusted(json.at("reference"), message.fds.at(0).get(), true),
                    load_trusted(json.at("naive"), message.fds.at(1).get(), false));
    if (!json.at("look").boolean()) return {{"ok", true}};
    const auto run = [&](const core::Bindings& axes, const judging::TensorBytes& inputs) {
      return oracle_->run_trusted(axes, inputs);
    };
    const auto found = judging::find_independence(oracle_->problem(), "cuda", kLookingSeed, run);
    if (!found) return {{"ok", true}};
    return {{"refused", found->problem}, {"remedy", found->remedy}};
  }

  static Contender side(const JsonView& json, core::UniqueFd channel, const verdicts::CheckSettings& checks) {
    judging::NamedPlan plan = judging::plan_from_json(json, "candidate");
    return {std::move(plan.solution), std::move(plan.binding),
            CandidateProcess(sandbox::process::Channel(std::move(channel)),
                             std::chrono::duration<double>(checks.launch_deadline_s),
                             std::chrono::duration<double>(checks.prepare_deadline_s))};
  }

  verdicts::Judgement judge(const JsonView& json, sandbox::process::Message& message) {
    const verdicts::CheckSettings checks = judging::check_settings_from_json(json.at("check"));
    const verdicts::TimingSettings timings = judging::timing_settings_from_json(json.at("timing"));
    const verdicts::Effort effort = verdicts::effort_from_name(json.at("effort").string()).value();
    verdicts::Judgement judgement{verdicts::Correct{}, {}, {}, json.at("seed").json().get<uint64_t>()};
    statistics::Keys keys(judgement.seed);
    Contender incumbent = side(json.at("incumbent"), std::move(message.fds.at(0)), checks);
    Contender candidate = side(json.at("candidate"), std::move(message.fds.at(1)), checks);

    Clock::time_point begin = Clock::now();
    Checking checking(*oracle_, checks, keys);
    // What people use is trusted to be right at other shapes, too; what it is timed on is audited like any candidate.
    const bool library = json.has("library") && json.at("library").boolean();
    std::optional<verdicts::Verdict> failed = checking.run(candidate, library ? verdicts::Effort::screen : effort);
    judgement.stages.check_ms = ms_since(begin);
    if (failed) {
      judgement.verdict = std::move(*failed);
      return judgement;
    }
    judgement.verdict = checking.findings();

    begin = Clock::now();
    if (incumbent.process.await_loaded()) throw core::SystemError("the incumbent cannot be loaded any more");
    judging::PairedTiming timing(oracle_->problem(), "cuda", timings.hot ? "cuda-events-hot" : "cuda-events-cold",
                                 timings, effort, keys);
    auto measured = timing.measure([&](const benchsuite::Workload& workload) {
      return open_paired_launches(*oracle_, workload.axes, candidate, incumbent, timings.hot, clocks_, keys);
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

  const Context& context_;
  const sandbox::cuda::driver::ClockMonitor& clocks_;
  std::optional<DeviceWork> work_;
  std::optional<Oracle> oracle_;
};
}  // namespace

void serve_judge_role(sandbox::process::Channel& owner, int device_index) {
  std::optional<sandbox::cuda::driver::Driver> driver;
  std::optional<Context> opened;
  const sandbox::jail::Namespaces namespaces = sandbox::cuda::run::open_in_namespaces([&] {
    driver.emplace(sandbox::cuda::driver::Driver::open());
    opened.emplace(*driver, device_index);
  });
  const Context& context = *opened;
  const sandbox::cuda::driver::DeviceFacts& facts = context.facts();
  const sandbox::cuda::driver::ClockMonitor clocks(facts.pci_bus_id);
  Json greeting{{"role", "judge"},
                {"gpu", facts.name},
                {"architecture", facts.architecture()},
                {"driver", driver->version()},
                {"memory_bytes", facts.memory_bytes},
                {"multiprocessors", facts.multiprocessors},
                {"l2_bytes", facts.l2_bytes},
                {"shared_bytes_per_block", facts.shared_bytes_per_block},
                {"shared_bytes_per_multiprocessor", facts.shared_bytes_per_multiprocessor},
                {"registers_per_multiprocessor", facts.registers_per_multiprocessor},
                {"clocks_known", clocks.available()}};
  sandbox::cuda::run::enter_gpu_jail(namespaces).describe(greeting);
  owner.send(greeting);
  JudgeRole role(context, clocks);
  sandbox::process::serve(owner, [&](sandbox::process::Message request) { owner.send(role.answer(request)); });
}

}  // namespace verifier::devices::cuda
