// kernelwright selftest: measures how often the judge of a device errs.
#include "agent/campaign/selftest.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>

#include "agent/cli/commands/commands.h"
#include "agent/cli/output.h"
#include "agent/cli/selftest_text.h"
#include "agent/search/interrupt.h"

namespace agent::cli::commands {
namespace {
struct SelftestOptions {
  std::string device = "cpu";
  std::optional<uint64_t> seed;
  bool quick = false;
  int sessions = 0;
  std::vector<std::string> problems;
};

// Rewrites one progress line; only on a terminal.
void show_progress(const campaign::SelftestProgress& progress, LiveLines& line) {
  if (::isatty(STDERR_FILENO) == 0) return;
  if (progress.judged == progress.cases) return line.clear();
  line.show({fmt::format("[{}/{}] {}: {} of {} judged", progress.index, progress.problems, progress.problem,
                         progress.judged, progress.cases)});
}

std::string ending(const campaign::SelftestReport& report, const campaign::SelftestPlan& plan) {
  if (report.interrupted) return "Interrupted and not recorded,";
  const std::string result = report.passed() ? "Passed" : "FAILED";
  return plan.is_whole() ? result : result + ", not recorded,";
}

void selftest(const SelftestOptions& options, Invocation& invocation) {
  const campaign::DeviceChoice device = campaign::parse_device(options.device);
  if (device.dialect != sandbox::Dialect::cuda) {
    throw core::UsageError("--device " + options.device, "has no selftest: its cases are written in CUDA",
                           "use --device cpu, whose judge is the same");
  }
  const campaign::LoadedData data = campaign::load_shipped_data(invocation.sandbox_level);
  for (const std::string& name : options.problems) data.catalogue.find(name, "selftest");
  results::archive::Recorder archive = campaign::open_seeded_archive(invocation.archive, data);
  const campaign::SelftestPlan plan{device.backend_name(), options.seed.value_or(verifier::judging::secret_seed()),
                                    options.quick, options.sessions, options.problems};
  search::watch_for_interrupt();
  const auto begin = std::chrono::steady_clock::now();
  campaign::DeviceSession session(data.paths, device, false, campaign::background_compile_workers() + 1);
  if (!invocation.json) {
    print("selftest of {}, seed {}{}\n", session.device(), plan.seed, plan.quick ? ", quick" : "");
    std::fflush(stdout);
  }
  LiveLines line(Stream::error);
  const campaign::SelftestReport report =
      campaign::run_selftest(session, data, plan, [&](const campaign::SelftestProgress& progress) {
        show_progress(progress, line);
        return !search::interrupted();
      });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const core::Json environment = session.environment();
  core::Json all = to_json(report);
  all.update({{"device", session.device()},
              {"seed", std::to_string(plan.seed)},
              {"quick", plan.quick},
              {"problems", plan.problems},
              {"seconds", seconds},
              {"interrupted", report.interrupted},
              {"environment", environment}});
  if (!report.interrupted && plan.is_whole()) {
    all["selftest"] = archive.add_selftest(
        {session.device(), archive.add_environment(environment), plan.seed, plan.quick, seconds, report.dishonest(),
         static_cast<int64_t>(report.false_accepts.size()), report.honest(),
         static_cast<int64_t>(report.false_rejects.size()), report.widest_noise(), report.candidates_per_hour(), all});
  }
  if (invocation.json) {
    print_json(all);
  } else {
    print("{}{} after {:.0f} s; sandbox level {}, version {}.\n", selftest_text(report), ending(report, plan), seconds,
          environment.at("sandbox_level").get<int>(), environment.at("program").get<std::string>());
  }
  invocation.exit_code = report.interrupted ? kInterrupted : report.passed() ? kDone : kRefused;
}
}  // namespace

void add_selftest_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<SelftestOptions>();
  CLI::App* command = app.add_subcommand(
      "selftest",
      "Judge kernels that must be refused and kernels that must be accepted; report wrong verdicts, noise and pace");
  command->add_option("PROBLEM", options->problems,
                      "Judge only the cases of these problems, and record nothing (default: all, recorded)");
  command->add_option("--device", options->device, "The device whose judge is tested: cpu, cuda, cuda:N, hip, hip:N");
  command->add_option("--seed", options->seed,
                      "Seed of all random choices, to repeat a selftest (default: a fresh one)");
  command->add_flag("--quick", options->quick, "Judge only a few cases of each class");
  command
      ->add_option("--against-itself", options->sessions,
                   "Judge no cases: time so many kernels against themselves, and count the intervals that contain 1")
      ->check(CLI::Range(1, 100'000));
  command->callback([options, &invocation] { selftest(*options, invocation); });
}

}  // namespace agent::cli::commands
