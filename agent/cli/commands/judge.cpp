// kernelwright judge FILE...: checks whether solutions are right, and times them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>

#include "agent/actions/points.h"
#include "agent/campaign/calibrations.h"
#include "agent/campaign/devices.h"
#include "agent/campaign/live_runner.h"
#include "agent/campaign/startup.h"
#include "agent/cli/attempt_text.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/cli/running/run_options.h"
#include "agent/prompting/counter_findings.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
using verifier::verdicts::Effort;
constexpr size_t kCompiledAhead = 4;  // candidates

struct JudgeOptions {
  std::vector<std::string> files;
  std::string device = "cpu", dialect;
  std::vector<std::string> set;  // NAME=VALUE
  bool confirm = false, control = false, screen = false, hot = false, profile = false;
};

Effort effort_of(const JudgeOptions& options) {
  return options.control ? Effort::control : options.screen ? Effort::screen : Effort::full;
}

// A file of the command line. Solutions must outlive their candidates.
struct Entry {
  std::string file;
  sandbox::Solution solution;
  const benchsuite::Problem* problem;
  sandbox::TunableBinding binding;
};

sandbox::TunableBinding chosen_binding(const sandbox::Solution& solution, const std::vector<std::string>& set) {
  std::map<std::string, int64_t> changed;
  for (const std::string& assignment : set) {
    const size_t equals = assignment.find('=');
    try {
      size_t used = 0;
      const std::string value = equals == std::string::npos ? "" : assignment.substr(equals + 1);
      changed[assignment.substr(0, equals)] = std::stoll(value, &used);
      if (used != value.size()) throw std::invalid_argument(value);
    } catch (const std::exception&) {
      throw core::UsageError("--set " + assignment, "is not NAME=INTEGER");
    }
  }
  return actions::point_of(solution, changed, "--set");
}

std::string stages_text(const search::Attempt& attempt) {
  const verifier::verdicts::StageTimes& stages = attempt.stages;
  std::string text = fmt::format("compile {:.0f} ms, check {:.0f} ms, timing {:.0f} ms, audits {:.0f} ms",
                                 attempt.compile_ms, stages.check_ms, stages.timing_ms, stages.audit_ms);
  if (stages.sanitizer_ms > 0) text += fmt::format(", compute-sanitizer {:.0f} ms", stages.sanitizer_ms);
  if (stages.host_wait_ms > 0)
    text += fmt::format(", waiting for the cpu device's look {:.0f} ms", stages.host_wait_ms);
  return text;
}

void show(const search::Attempt& attempt, const std::string& file, const std::string& against, bool json) {
  const auto counters =
      attempt.measurement ? attempt.measurement->counters : std::vector<verifier::verdicts::Counters>{};
  const std::vector<prompting::CounterFinding> findings = prompting::findings_in(counters);
  if (json) {
    core::Json line{{"file", file},
                    {"attempt", attempt.id},
                    {"verdict", name_of(attempt.verdict)},
                    {"sentence", verifier::verdicts::sentence_for_people(attempt.verdict)},
                    {"details", to_json(attempt.verdict)},
                    {"compile_ms", attempt.compile_ms},
                    {"check_ms", attempt.stages.check_ms},
                    {"timing_ms", attempt.stages.timing_ms},
                    {"audit_ms", attempt.stages.audit_ms},
                    {"sanitizer_ms", attempt.stages.sanitizer_ms},
                    {"host_wait_ms", attempt.stages.host_wait_ms}};
    if (attempt.measurement) line["measurement"] = to_json(*attempt.measurement);
    if (!counters.empty()) {
      line["findings"] = core::Json::array();  // `measurement` has the counters
      for (const auto& finding : findings) line["findings"].push_back(finding.sentence);
    }
    print_json(line);
    return;
  }
  print("{}: {}\n  {}\n", verifier::verdicts::is_correct(attempt.verdict) ? "accepted" : "refused",
        name_of(attempt.verdict), verifier::verdicts::sentence_for_people(attempt.verdict));
  if (attempt.measurement) print("{}", measurement_text(*attempt.measurement, against));
  for (const auto& finding : findings) print("  {}\n", finding.sentence);
  if (!counters.empty() && findings.empty()) print("  The hardware's counters show nothing that stands out.\n");
  print("{}; recorded as attempt {}\n", stages_text(attempt), attempt.id);
}

std::deque<Entry> load_entries(const JudgeOptions& options, campaign::LoadedData& data) {
  std::deque<Entry> entries;
  for (const std::string& file : options.files) {
    sandbox::Solution solution = sandbox::load_solution(file);
    const benchsuite::Problem& problem = problem_of(data, solution, file);
    sandbox::validate_solution(solution, problem);
    sandbox::TunableBinding binding = chosen_binding(solution, options.set);
    entries.push_back({file, std::move(solution), &problem, std::move(binding)});
  }
  return entries;
}

bool has_won(const search::Attempt& attempt) {
  return attempt.measurement && attempt.measurement->outcome == verifier::statistics::Outcome::win;
}

std::string confirmation_text(const search::Attempt& attempt, const std::string& against) {
  if (!verifier::verdicts::is_correct(attempt.verdict)) return "Not confirmed: it was refused the second time.\n";
  if (!has_won(attempt)) return "Not confirmed: it is right, and not faster than " + against + ".\n";
  return fmt::format("Confirmed: {:.2f}x over {}; kernelwright leaderboard has it.\n",
                     attempt.measurement->speed_up.value, against);
}

// Returns its last judgement.
search::Attempt judge_one(const Entry& entry, const search::CandidatePtr& candidate, campaign::LiveRunner& runner,
                          const JudgeOptions& options, bool json) {
  const search::CandidatePtr incumbent = options.control ? candidate : runner.naive();
  const std::string naive = entry.problem->pytorch() ? "naive (eager PyTorch)" : "naive";
  const std::string against = options.control ? "itself" : naive;
  if (!json && options.files.size() > 1) print("{}\n", core::clean_line(entry.file));
  search::Attempt attempt = runner.make(candidate, incumbent, effort_of(options));
  show(attempt, entry.file, against, json);
  if (options.confirm && verifier::verdicts::is_correct(attempt.verdict)) {
    attempt = runner.make(candidate, incumbent, Effort::confirm);
    if (!json) print("\nagain in fresh processes with fresh seeds:\n");
    show(attempt, entry.file, against, json);
    if (!json) print("{}", confirmation_text(attempt, naive));
  }
  std::fflush(stdout);
  return attempt;
}

bool all_in_hip(const std::deque<Entry>& entries) {
  return std::ranges::all_of(
      entries, [](const Entry& entry) { return campaign::own_dialect(entry.solution) == sandbox::Dialect::hip; });
}

void judge(const JudgeOptions& options, Invocation& invocation) {
  const std::string named = campaign::device_in_dialect(options.device, options.dialect);
  campaign::LoadedData data = load_data(invocation);
  const std::deque<Entry> entries = load_entries(options, data);
  campaign::DeviceChoice device = campaign::parse_device(named);
  if (named == "cpu" && options.dialect.empty() && all_in_hip(entries)) device.dialect = sandbox::Dialect::hip;

  results::archive::Recorder archive = campaign::open_seeded_archive(invocation.archive, data);
  campaign::DeviceSession session(data.paths, device, options.hot, campaign::background_compile_workers() + 1);
  for (const Entry& entry : entries) {
    if (const auto why = session.why_not(entry.solution)) throw core::InputError(entry.file, *why);
  }
  if (options.confirm) session.prepare_examination();
  campaign::LiveRunner runner(archive, session, std::nullopt,
                              campaign::newest_or_new_calibration(archive, data.paths, device, session.device()));
  if (options.profile) {
    if (!session.has_profiler()) {
      throw core::InputError("--profile", "there is no profiler for " + session.device(),
                             "leave it out; on an NVIDIA GPU, ncu of the CUDA Toolkit counts");
    }
    runner.look_closer(campaign::LiveRunner::Profiled::right_kernels);
  }
  std::deque<search::CandidatePtr> ahead;  // of the current problem, being compiled
  size_t refused = 0, won = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i == 0 || entries[i].problem != entries[i - 1].problem) runner.use_problem(*entries[i].problem);
    for (size_t next = i + ahead.size(); next < entries.size() && ahead.size() < kCompiledAhead; ++next) {
      const Entry& entry = entries[next];
      if (entry.problem != entries[i].problem) break;
      ahead.push_back(
          runner.add(entry.solution, std::filesystem::path(entry.file).stem().string(), "user", entry.binding));
      runner.prepare(ahead.back(), effort_of(options));
    }
    const search::CandidatePtr candidate = ahead.front();
    ahead.pop_front();
    const search::Attempt attempt = judge_one(entries[i], candidate, runner, options, invocation.json);
    if (!verifier::verdicts::is_correct(attempt.verdict)) ++refused;
    if (has_won(attempt)) ++won;
  }
  if (refused > 0) {
    invocation.exit_code = kRefused;
  } else if (won > 0 && !options.confirm && effort_of(options) == Effort::full && !invocation.json) {
    print("--confirm judges it once more; if it wins again, it enters the leaderboard.\n");
  }
  if (!invocation.json && entries.size() > 1) {
    print("{} of {} files were accepted.\n", entries.size() - refused, entries.size());
  }
}
}  // namespace

void add_judge_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<JudgeOptions>();
  CLI::App* command = app.add_subcommand("judge", "Verify solutions and time them against naive, one after another");
  command
      ->add_option("FILE", options->files,
                   "Solutions: each one .cu file with its launch plan in the header comment; judged one after another")
      ->required();
  command->add_option("--set", options->set, "NAME=VALUE of a tunable (default: its first value); may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--device", options->device, "Where it runs: cpu, cuda, cuda:N, hip, hip:N");
  running::add_dialect_option(*command, options->dialect);
  command->add_flag("--hot", options->hot, "On a GPU: time with a warm L2 cache");
  CLI::Option* confirm = command->add_flag(
      "--confirm", options->confirm, "Judge it again in fresh processes: a win over naive then enters the leaderboard");
  CLI::Option* control =
      command->add_flag("--control", options->control, "Time it against itself, which shows how noisy this host is")
          ->excludes(confirm);
  command->add_flag("--screen", options->screen, "Only screen it: each listed shape once, and a few timed pairs")
      ->excludes(confirm)
      ->excludes(control);
  command
      ->add_flag("--profile", options->profile,
                 "On an NVIDIA GPU: say what the hardware's counters show of a right kernel at its largest workload")
      ->excludes(control);
  command->footer("    kernelwright judge kernels/softmax_f32/row_in_registers.cu --set BLOCK=64 --confirm");
  command->callback([options, &invocation] { judge(*options, invocation); });
}

}  // namespace agent::cli::commands
