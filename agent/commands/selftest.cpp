// kernelwright selftest: does the judge of this device refuse what it must, and accept what it must?
#include "agent/selftest.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>

#include "agent/cli.h"
#include "agent/interrupt.h"
#include "agent/output.h"

namespace agent {
namespace {
struct SelftestOptions {
  std::string device = "cpu";
  std::optional<uint64_t> seed;
  bool quick = false;
};

// One line that is written again and again, on a terminal alone.
void show_progress(const SelftestProgress& progress, LiveLines& line) {
  if (::isatty(STDERR_FILENO) == 0) return;
  if (progress.judged == progress.cases) return line.clear();
  line.show({fmt::format("[{}/{}] {}: {} of {} judged", progress.index, progress.problems, progress.problem,
                         progress.judged, progress.cases)});
}

uint64_t fresh_seed() {
  std::random_device chance;
  return (uint64_t{chance()} << 32) | chance();
}

void selftest(const SelftestOptions& options, Shell& shell) {
  const DeviceChoice device = parse_device(options.device);
  const Data data = load_data(shell);
  results::archive::Recorder archive = open_seeded_archive(shell, data);
  const SelftestPlan plan{device.backend, options.seed ? *options.seed : fresh_seed(), options.quick};
  watch_for_interrupt();
  const auto begin = std::chrono::steady_clock::now();
  Workshop workshop(data.paths, device, false, background_compile_workers() + 1);
  if (!shell.json) {
    print("selftest of {}, seed {}{}\n", workshop.device(), plan.seed, plan.quick ? ", quick" : "");
    std::fflush(stdout);
  }
  LiveLines line(Stream::error);
  const SelftestReport report = run_selftest(workshop, data, plan, [&](const SelftestProgress& progress) {
    show_progress(progress, line);
    return !interrupted();
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const core::Json environment = workshop.environment();
  core::Json all = to_json(report);
  all.update({{"device", workshop.device()},
              {"seed", std::to_string(plan.seed)},
              {"quick", plan.quick},
              {"seconds", seconds},
              {"interrupted", report.interrupted},
              {"environment", environment}});
  if (!report.interrupted) {
    all["selftest"] = archive.add_selftest(
        {workshop.device(), archive.add_environment(environment), plan.seed, plan.quick, seconds, report.dishonest(),
         static_cast<int64_t>(report.false_accepts.size()), report.honest(),
         static_cast<int64_t>(report.false_rejects.size()), report.widest_noise(), report.candidates_per_hour(), all});
  }
  if (shell.json) {
    print_json(all);
  } else {
    print("{}{} after {:.0f} s; sandbox level {}, version {}.\n", selftest_text(report),
          report.interrupted ? "Interrupted, and not recorded,"
          : report.passed()  ? "Passed"
                             : "FAILED",
          seconds, environment.at("sandbox_level").get<int>(), environment.at("program").get<std::string>());
  }
  shell.exit_code = report.interrupted ? kInterrupted : report.passed() ? kDone : kRefused;
}
}  // namespace

void add_selftest_command(CLI::App& app, Shell& shell) {
  auto options = std::make_shared<SelftestOptions>();
  CLI::App* command = app.add_subcommand(
      "selftest",
      "Judge kernels that must be refused and kernels that must be accepted, and say how often it was wrong");
  command->add_option("--device", options->device, "Whose judge: cpu, cuda, cuda:N")->capture_default_str();
  command->add_option("--seed", options->seed, "Of all chance, to repeat a selftest; a fresh one by default");
  command->add_flag("--quick", options->quick, "A few cases of each class only");
  command->callback([options, &shell] { selftest(*options, shell); });
}

}  // namespace agent
