// kernelwright leaderboard [PROBLEM]: the best verified solutions.
#include <CLI/CLI.hpp>
#include <memory>

#include "agent/cli.h"
#include "agent/devices.h"
#include "agent/opening.h"
#include "agent/output.h"
#include "agent/views.h"

namespace agent {
namespace {
struct LeaderboardOptions {
  std::string problem, device;
  bool best = false;
};

void leaderboard(const LeaderboardOptions& options, const Shell& shell) {
  if (!options.problem.empty()) find_problem(load_data(shell).problems, options.problem, "leaderboard");
  const results::Archive archive = open_existing_archive(shell);
  auto rows = results::leaderboard(
      archive, {options.problem, options.device.empty() ? "" : parse_device(options.device).backend});
  if (options.best) std::erase_if(rows, [](const auto& row) { return row.library || row.rank != 1; });
  if (shell.json) {
    core::Json all = core::Json::array();
    for (const results::LeaderboardRow& row : rows) all.push_back(to_json(row));
    print_json(all);
    return;
  }
  const std::string text = leaderboard_text(rows, false);
  print("{}", text.empty() ? "Nothing is confirmed to be faster than naive yet. Start with: kernelwright run --suite "
                             "quick\n"
                           : text);
}
}  // namespace

void add_leaderboard_command(CLI::App& app, Shell& shell) {
  auto options = std::make_shared<LeaderboardOptions>();
  CLI::App* command = app.add_subcommand("leaderboard", "Show the best verified solutions of each problem");
  command->add_option("PROBLEM", options->problem, "Only this one");
  command->add_option("--device", options->device, "Only of this device");
  command->add_flag("--best", options->best, "Only the best solution of each problem");
  command->callback([options, &shell] { leaderboard(*options, shell); });
}

}  // namespace agent
