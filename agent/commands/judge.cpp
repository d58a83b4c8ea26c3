// kernelwright judge FILE: is this solution right, and how fast is it?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "agent/attempts.h"
#include "agent/calibrations.h"
#include "agent/cli.h"
#include "agent/devices.h"
#include "agent/opening.h"
#include "agent/views.h"
#include "core/error.h"
#include "core/suggest.h"
#include "core/text.h"

namespace agent {
namespace {
struct JudgeOptions {
  std::string file, device = "cpu";
  std::vector<std::string> set;  // NAME=VALUE
  bool confirm = false, hot = false;
};

sandbox::TunableBinding chosen_binding(const sandbox::Solution& solution, const std::vector<std::string>& set) {
  sandbox::TunableBinding binding = sandbox::default_binding(solution);
  for (const std::string& assignment : set) {
    const size_t equals = assignment.find('=');
    const std::string name = assignment.substr(0, equals);
    std::vector<std::string> known;
    for (const sandbox::Tunable& tunable : solution.tunables) known.push_back(tunable.name);
    if (binding.count(name) == 0) {
      throw core::InputError("--set " + assignment, "there is no tunable \"" + name + "\"",
                             core::did_you_mean(name, known, "tunables"));
    }
    try {
      size_t used = 0;
      const std::string value = equals == std::string::npos ? "" : assignment.substr(equals + 1);
      binding[name] = std::stoll(value, &used);
      if (used != value.size()) throw std::invalid_argument(value);
    } catch (const std::exception&) {
      throw core::InputError("--set " + assignment, "is not NAME=INTEGER");
    }
  }
  if (!sandbox::satisfies_constraints(solution, binding)) {
    throw core::InputError("--set", sandbox::describe(binding) + " breaks a constraint of the solution");
  }
  return binding;
}

void show(const Attempt& attempt, const std::string& file, bool json) {
  if (json) {
    core::Json line{{"file", file},
                    {"attempt", attempt.id},
                    {"verdict", verifier::name_of(attempt.verdict)},
                    {"sentence", verifier::sentence_for_people(attempt.verdict)},
                    {"details", verifier::to_json(attempt.verdict)},
                    {"compile_ms", attempt.compile_ms},
                    {"check_ms", attempt.stages.check_ms},
                    {"timing_ms", attempt.stages.timing_ms},
                    {"audit_ms", attempt.stages.audit_ms}};
    if (attempt.measurement) line["measurement"] = verifier::to_json(*attempt.measurement);
    fmt::print("{}\n", line.dump(-1, ' ', false, core::Json::error_handler_t::replace));
    return;
  }
  fmt::print("{}: {}\n  {}\n", verifier::is_correct(attempt.verdict) ? "accepted" : "refused",
             verifier::name_of(attempt.verdict), verifier::sentence_for_people(attempt.verdict));
  if (attempt.measurement) fmt::print("{}", measurement_text(*attempt.measurement, "naive"));
  fmt::print("compile {:.0f} ms, check {:.0f} ms, timing {:.0f} ms, audits {:.0f} ms; recorded as attempt {}\n",
             attempt.compile_ms, attempt.stages.check_ms, attempt.stages.timing_ms, attempt.stages.audit_ms,
             attempt.id);
}

void judge(const JudgeOptions& options, Shell& shell) {
  const DeviceChoice device = parse_device(options.device);
  const Data data = load_data();
  const sandbox::Solution solution = sandbox::load_solution(options.file);
  const benchsuite::Problem& problem = find_problem(data.problems, solution.problem, options.file + "#/problem");
  sandbox::validate_solution(solution, problem);
  const sandbox::TunableBinding binding = chosen_binding(solution, options.set);

  results::Archive archive = open_seeded_archive(shell, data);
  Workshop workshop(data.paths, device, options.hot, background_compile_workers() + 1);
  Attempts attempts(archive, workshop, std::nullopt,
                    newest_or_new_calibration(archive, data.paths, device, workshop.device()));
  attempts.use_problem(problem);
  const CandidatePtr candidate =
      attempts.add(solution, std::filesystem::path(options.file).stem().string(), "user", binding);
  Attempt attempt = attempts.make(*candidate, *attempts.naive(), verifier::Effort::full);
  show(attempt, options.file, shell.json);
  if (options.confirm && verifier::is_correct(attempt.verdict)) {
    attempt = attempts.make(*candidate, *attempts.naive(), verifier::Effort::confirm);
    if (!shell.json) fmt::print("\nagain in fresh processes with fresh seeds:\n");
    show(attempt, options.file, shell.json);
  }
  if (!verifier::is_correct(attempt.verdict)) {
    shell.exit_code = kRefused;
  } else if (!options.confirm && !shell.json) {
    fmt::print("With --confirm it is judged once more, and enters the leaderboard if it wins again.\n");
  }
}
}  // namespace

void add_judge_command(CLI::App& app, Shell& shell) {
  auto options = std::make_shared<JudgeOptions>();
  CLI::App* command = app.add_subcommand("judge", "Prove a solution right or wrong, and time it against naive");
  command->add_option("FILE", options->file, "A solution: one .cu file with its launch plan in the header comment")
      ->required();
  command->add_option("--set", options->set, "NAME=VALUE of a tunable (default: its first value); may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--device", options->device, "Where it runs: cpu, cuda, cuda:N")->capture_default_str();
  command->add_flag("--hot", options->hot, "On a GPU: time with a warm L2 cache");
  command->add_flag("--confirm", options->confirm,
                    "Judge it a second time: a win over naive then enters the leaderboard");
  command->callback([options, &shell] { judge(*options, shell); });
}

}  // namespace agent
