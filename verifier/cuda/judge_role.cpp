#include "verifier/cuda/judge_role.h"

#include <chrono>
#include <optional>
#include <utility>

#include "core/error.h"
#include "sandbox/cuda/run/gpu_jail.h"
#include "sandbox/cuda/driver/nvml.h"
#include "sandbox/process/sealed_memory.h"
#include "verifier/cuda/calibration.h"
#include "verifier/cuda/checking.h"
#include "verifier/cuda/contest.h"
#include "verifier/judge_request.h"
#include "verifier/timing.h"

namespace verifier::cuda {
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
  JudgeRole(const Context& context, const sandbox::cuda::driver::ClockMonitor& clocks) : context_(context), clocks_(clocks) {}

  Json answer(sandbox::process::Message& message) {
    const JsonView json(message.json, "judge request");
    const std::string op = json.at("op").string();
    if (op == "kernels") {
      at_hand_.reset();
      work_.emplace(context_, sandbox::process::read_memory(message.fds.at(0).get()));
      return {{"ok", true}};
    }
    if (op == "calibrate") {
      const std::string kernels = sandbox::process::read_memory(message.fds.at(0).get());
      return {{"calibration",
               verifier::to_json(measure_device(context_, kernels, sandbox::process::read_memory(message.fds.at(1).get())))}};
    }
    if (!work_) throw core::SystemError("the judge was asked before it had its kernels");
    if (op == "problem") return learn(json, message);
    if (!at_hand_) throw core::SystemError("the judge was asked before it knew a problem");
    return to_json(judge(json, message));
  }

 private:
  TrustedSolution load_trusted(const JsonView& json, int binary, bool wide_outputs) {
    NamedPlan plan = plan_from_json(json, "trusted solution");
    return TrustedSolution(context_, sandbox::process::read_memory(binary), std::move(plan.solution), std::move(plan.binding),
                           wide_outputs);
  }

  Json learn(const JsonView& json, sandbox::process::Message& message) {
    benchsuite::Problem problem = benchsuite::parse_problem(json.at("problem").string(), "problem.json");
    at_hand_.reset();
    at_hand_.emplace(context_, *work_, std::move(problem),
                     load_trusted(json.at("reference"), message.fds.at(0).get(), true),
                     load_trusted(json.at("naive"), message.fds.at(1).get(), false));
    if (!json.at("look").boolean()) return {{"ok", true}};
    const auto run = [&](const core::Bindings& axes, const TensorBytes& inputs) {
      return at_hand_->run_trusted(axes, inputs);
    };
    const auto found = find_independence(at_hand_->problem(), "cuda", kLookingSeed, run);
    if (!found) return {{"ok", true}};
    return {{"refused", found->problem}, {"remedy", found->remedy}};
  }

  static Side side(const JsonView& json, core::UniqueFd channel, const CheckSettings& checks) {
    NamedPlan plan = plan_from_json(json, "candidate");
    return {std::move(plan.solution), std::move(plan.binding),
            CellClient(sandbox::process::Channel(std::move(channel)), std::chrono::duration<double>(checks.launch_deadline_s),
                       std::chrono::duration<double>(checks.prepare_deadline_s))};
  }

  Judgement judge(const JsonView& json, sandbox::process::Message& message) {
    const CheckSettings checks = check_settings_from_json(json.at("check"));
    const TimingSettings timings = timing_settings_from_json(json.at("timing"));
    const Effort effort = effort_from_name(json.at("effort").string()).value();
    Judgement judgement{Correct{}, {}, {}, json.at("seed").json().get<uint64_t>()};
    Keys keys(judgement.seed);
    Side incumbent = side(json.at("incumbent"), std::move(message.fds.at(0)), checks);
    Side candidate = side(json.at("candidate"), std::move(message.fds.at(1)), checks);

    Clock::time_point begin = Clock::now();
    Checking checking(*at_hand_, checks, keys);
    // What people use is trusted to be right at other shapes, too; what it is timed on is audited like any candidate.
    const bool library = json.has("library") && json.at("library").boolean();
    std::optional<Verdict> failed = checking.run(candidate, library ? Effort::screen : effort);
    judgement.stages.check_ms = ms_since(begin);
    if (failed) {
      judgement.verdict = std::move(*failed);
      return judgement;
    }
    judgement.verdict = checking.findings();

    begin = Clock::now();
    if (incumbent.cell.await_loaded()) throw core::SystemError("the incumbent cannot be loaded any more");
    Timing timing(at_hand_->problem(), "cuda", timings.hot ? "cuda-events-hot" : "cuda-events-cold", timings, effort,
                  keys);
    auto measured = timing.measure([&](const benchsuite::Workload& workload) {
      return open_contest(*at_hand_, workload.axes, candidate, incumbent, timings.hot, clocks_, keys);
    });
    judgement.stages.audit_ms = timing.audit_ms();
    judgement.stages.timing_ms = ms_since(begin) - timing.audit_ms();
    if (auto* verdict = std::get_if<Verdict>(&measured)) {
      judgement.verdict = std::move(*verdict);
    } else {
      judgement.measurement = std::move(std::get<std::optional<Measurement>>(measured));
    }
    return judgement;
  }

  const Context& context_;
  const sandbox::cuda::driver::ClockMonitor& clocks_;
  std::optional<DeviceWork> work_;
  std::optional<ProblemAtHand> at_hand_;
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
  while (true) {
    sandbox::process::Message request = owner.receive();
    try {
      owner.send(role.answer(request));
    } catch (const sandbox::process::ChannelClosed&) {
      throw;
    } catch (const std::exception& error) {
      owner.send({{"error", error.what()}});
    }
  }
}

}  // namespace verifier::cuda
