#include "verifier/judging/session.h"

#include <chrono>
#include <optional>
#include <utility>

#include "core/error.h"
#include "sandbox/process/sealed_memory.h"
#include "verifier/judging/checking.h"
#include "verifier/judging/messages.h"
#include "verifier/judging/paired_timing.h"

namespace verifier::judging {
namespace {
using core::Json;
using core::JsonView;
using verdicts::Effort;
using verdicts::Judgement;
using verdicts::Verdict;
using Clock = std::chrono::steady_clock;
constexpr uint64_t kLookingSeed = 1;  // the same problem is always refused or always taken

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

class Session {
 public:
  explicit Session(JudgeDevice& device) : device_(device) {}

  Json answer(sandbox::process::Message& message) {
    const JsonView json(message.json, "judge request");
    const std::string op = json.at("op").string();
    if (op == "problem") return learn(json, message);
    if (op == "share") {
      device_.share(std::move(message.fds.at(0)));
      return {{"ok", true}};
    }
    const bool checking_build = op == "run_checking_build";
    if (op != "judge" && !checking_build) {
      if (auto answered = device_.answer(op, message)) return std::move(*answered);
      throw core::SystemError("the judge does not know the request " + op);
    }
    if (!oracle_) throw core::SystemError("the judge was asked before it knew a problem");
    return to_json(checking_build ? run_checking_build(json, message) : judge(json, message));
  }

 private:
  std::unique_ptr<TrustedSolution> load_trusted(const JsonView& json, std::string_view file, int binary,
                                                bool wide_outputs) {
    NamedPlan plan = plan_from_json(json, std::string(file));
    return device_.load_trusted(binary, std::move(plan.solution), std::move(plan.binding), wide_outputs);
  }

  Json learn(const JsonView& json, sandbox::process::Message& message) {
    benchsuite::Problem problem = benchsuite::parse_problem(json.at("problem").string(), "problem.json");
    oracle_.reset();
    size_t fd = json.at("pytorch").boolean() ? 1 : 2;
    for (const JsonView& file : json.at("data").items()) {
      problem.data.emplace(file.string(),
                           std::make_shared<const benchsuite::Safetensors>(
                               sandbox::process::read_memory(message.fds.at(fd++).get()), file.string()));
    }
    if (json.at("pytorch").boolean()) {
      const auto channel = std::make_shared<reference::ReferenceChannel>(std::move(message.fds.at(0)));
      oracle_.emplace(device_, std::move(problem), device_.load_pytorch(channel, true),
                      device_.load_pytorch(channel, false), channel, json.at("draws_inputs").boolean());
    } else {
      oracle_.emplace(device_, std::move(problem),
                      load_trusted(json.at("reference"), benchsuite::kReferenceFile, message.fds.at(0).get(), true),
                      load_trusted(json.at("naive"), benchsuite::kNaiveFile, message.fds.at(1).get(), false));
    }
    if (!json.at("look").boolean()) return {{"ok", true}};
    const auto turn = device_.turns().beside_others();
    try {
      const auto found = find_independence(
          oracle_->problem(), device_.traits().backend, kLookingSeed,
          [&](const benchsuite::Workload& workload, statistics::Keys& keys) { return oracle_->draw(workload, keys); },
          [&](const core::Bindings& axes, const TensorBytes& inputs) { return oracle_->run_trusted(axes, inputs); });
      if (!found) return {{"ok", true}};
      return {{"refused", found->problem}, {"remedy", found->remedy}, {"file", "problem.json"}};
    } catch (const core::InputError& faulted) {
      return {{"refused", faulted.problem()},
              {"remedy", faulted.remedy().empty() ? "correct it" : faulted.remedy()},
              {"file", std::filesystem::path(faulted.where()).filename().string()}};
    }
  }

  Contender contender(const JsonView& json, core::UniqueFd channel, const verdicts::CheckSettings& checks) {
    NamedPlan plan = plan_from_json(json, "candidate");
    return {std::move(plan.solution), std::move(plan.binding),
            device_.connect(sandbox::process::Channel(std::move(channel)), checks), std::move(plan.numbers)};
  }

  Judgement run_checking_build(const JsonView& json, sandbox::process::Message& message) {
    verdicts::CheckSettings checks = check_settings_from_json(json.at("check"));
    checks.unset_may_be_read = true;  // it asks for a GPU
    Judgement judgement{verdicts::Correct{}, {}, {}, json.at("seed").json().get<uint64_t>()};
    statistics::Keys keys(judgement.seed);
    Contender candidate = contender(json.at("candidate"), std::move(message.fds.at(0)), checks);
    const Clock::time_point begin = Clock::now();
    Checking checking(*oracle_, checks, keys);
    const Share share{json.at("part").json().get<size_t>(), json.at("parts").json().get<size_t>()};
    auto failed = checking.checking_build_for_gpu(candidate, share);
    // Its failures do not count: this device computes some GPU instructions differently.
    constexpr double kLate_ms = 8000;
    if (!failed && message.fds.size() > 1 && ms_since(begin) < kLate_ms) {
      Contender covered = contender(json.at("candidate"), std::move(message.fds.at(1)), checks);
      checking.covering_build(covered);
    }
    judgement.verdict = failed ? std::move(*failed) : Verdict(checking.findings());
    judgement.stages.check_ms = ms_since(begin);
    return judgement;
  }

  Judgement judge(const JsonView& json, sandbox::process::Message& message) {
    const verdicts::CheckSettings checks = check_settings_from_json(json.at("check"));
    const verdicts::TimingSettings timings = timing_settings_from_json(json.at("timing"));
    const Effort effort = json.at("effort").one_of<Effort>("efforts");
    const Effort depth = json.at("checks").one_of<Effort>("efforts");
    const DeviceTraits& traits = device_.traits();
    Judgement judgement{verdicts::Correct{}, {}, {}, json.at("seed").json().get<uint64_t>()};
    statistics::Keys keys(judgement.seed);
    Contender incumbent = contender(json.at("incumbent"), std::move(message.fds.at(0)), checks);
    Contender candidate = contender(json.at("candidate"), std::move(message.fds.at(1)), checks);

    Clock::time_point begin = Clock::now();
    Checking checking(*oracle_, checks, keys);
    std::optional<Verdict> failed;
    // Libraries that people use are trusted to be right at other shapes, too; their timed launches are audited.
    const bool library = json.has("library") && json.at("library").boolean();
    oracle_->judge_library(library);
    // PyTorch has no checking build.
    const bool pytorch = library || json.at("pytorch").boolean();
    if (traits.has_checking_build && effort != Effort::screen && !pytorch) {
      Contender checked = contender(json.at("candidate"), std::move(message.fds.at(2)), checks);
      failed = checking.checking_build(checked, depth);
    }
    if (!failed) failed = checking.fast_build(candidate, library ? Effort::screen : depth);
    if (!failed && message.fds.size() > 3) {
      Contender covered = contender(json.at("candidate"), std::move(message.fds.at(3)), checks);
      failed = checking.covering_build(covered);
    }
    judgement.stages.check_ms = ms_since(begin);
    if (failed) {
      judgement.verdict = std::move(*failed);
      return judgement;
    }
    judgement.verdict = checking.findings();

    begin = Clock::now();
    if (incumbent.process->await_loaded()) throw core::SystemError("the incumbent can no longer be loaded");
    PairedTiming timing(oracle_->problem(), traits.backend, timings.hot ? traits.hot_clock : traits.clock, timings,
                        effort, keys);
    auto measured = timing.measure([&](const benchsuite::Workload& workload) {
      auto opened = [&] {
        const auto turn = device_.turns().beside_others();
        return open_paired_launches(*oracle_, workload, candidate, incumbent, timings.hot, keys);
      }();
      if (auto* launches = std::get_if<std::unique_ptr<PairedLaunches>>(&opened)) {
        (*launches)->keep(device_.turns().alone());
      }
      return opened;
    });
    judgement.stages.audit_ms = timing.audit_ms();
    judgement.stages.timing_ms = ms_since(begin) - timing.audit_ms();
    if (auto* verdict = std::get_if<Verdict>(&measured)) {
      judgement.verdict = std::move(*verdict);
    } else {
      judgement.measurement = std::move(std::get<std::optional<verdicts::Measurement>>(measured));
    }
    return judgement;
  }

  JudgeDevice& device_;
  std::optional<Oracle> oracle_;
};
}  // namespace

void serve_judge(sandbox::process::Channel& owner, JudgeDevice& device) {
  Session session(device);
  sandbox::process::serve(owner, [&](sandbox::process::Message request) { owner.send(session.answer(request)); });
}

}  // namespace verifier::judging
