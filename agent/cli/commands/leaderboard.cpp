// kernelwright leaderboard [PROBLEM]: lists the best verified solutions, or the scores of a suite.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "agent/actions/resolve.h"
#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/leaderboard_text.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "results/view/json.h"

namespace agent::cli::commands {
namespace {
struct LeaderboardOptions {
  std::string problem, device, suite, sort = "speedup";
  size_t limit = 10;
  bool best = false, unconfirmed = false, scores = false;
};

// The archive's problems first: it may have some that no longer ship. Without a name if it is no suite.
benchsuite::Suite chosen_problems(const LeaderboardOptions& options, const results::archive::Reader& archive,
                                  campaign::LoadedData& data) {
  if (!options.problem.empty()) {
    const std::vector<std::string> known = results::archive::known_problems(archive);
    const bool judged = std::find(known.begin(), known.end(), options.problem) != known.end();
    return {.problems = {judged ? options.problem : data.catalogue.find_or_load(options.problem, "leaderboard").name}};
  }
  const std::string suite = options.suite.empty() && options.scores ? "core" : options.suite;
  return suite.empty() ? benchsuite::Suite{} : benchsuite::load_suite(data.paths.suites(), suite, data.catalogue);
}

void show_scores(const std::vector<results::view::SuiteScores>& scores, bool json) {
  if (!json) {
    print("{}", scores.empty()
                    ? "None of these problems has been judged yet. Start with: kernelwright run --suite core\n"
                    : scores_text(scores));
    return;
  }
  core::Json all = core::Json::array();
  for (const results::view::SuiteScores& one : scores) all.push_back(results::view::json_of(one));
  print_json(all);
}

void leaderboard(const LeaderboardOptions& options, const Invocation& invocation) {
  results::archive::LeaderboardFilter filter;
  filter.sort = results::archive::sort_from_name(options.sort, "--sort");
  filter.limit = options.best ? 1 : options.limit;
  filter.unconfirmed = options.unconfirmed;
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  filter.device = actions::resolve_device(archive, options.device);
  campaign::LoadedData data = load_data(invocation);
  const benchsuite::Suite chosen = chosen_problems(options, archive, data);
  filter.here = campaign::hashes_here(data.catalogue);
  if (options.scores) {
    return show_scores(results::view::suite_scores(archive, chosen, filter.device, filter.here), invocation.json);
  }
  std::vector<std::string> problems = chosen.problems;
  if (problems.empty()) problems.push_back("");  // all
  std::vector<results::archive::LeaderboardRow> rows;
  for (const std::string& problem : problems) {
    filter.problem = problem;
    auto of_problem = results::archive::leaderboard(archive, filter);
    std::move(of_problem.begin(), of_problem.end(), std::back_inserter(rows));
  }
  if (options.best) std::erase_if(rows, [](const auto& row) { return row.library; });
  if (invocation.json) {
    core::Json all = core::Json::array();
    for (const results::archive::LeaderboardRow& row : rows) all.push_back(results::view::json_of(row));
    print_json(all);
    return;
  }
  if (rows.empty()) {
    const std::string one = chosen.problems.size() == 1 ? chosen.problems[0] : "";
    return print("No solution{} is confirmed to be faster than naive yet. Start with: {}\n",
                 one.empty() ? "" : " of " + one,
                 command_again(invocation, "run", one.empty() ? "--suite quick" : one));
  }
  print("{}", leaderboard_text(rows));
}
}  // namespace

void add_leaderboard_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<LeaderboardOptions>();
  CLI::App* command = app.add_subcommand("leaderboard", "Show the best verified solutions of each problem");
  CLI::Option* problem = command->add_option("PROBLEM", options->problem, "Only this problem, by name or folder");
  command->add_option("--device", options->device, "Only this device: cpu, cuda, or a part of its name such as H200");
  command->add_option("--sort", options->sort, "Order: speedup, time, cost, bound, date or name");
  command->add_option("--suite", options->suite, "Only the problems of this suite")->excludes(problem);
  command->add_option("--limit", options->limit, "Solutions to show per problem and device; 0 shows all");
  command->add_flag("--unconfirmed,--all", options->unconfirmed, "Also show correct but unconfirmed solutions");
  command->add_flag("--best", options->best, "Only the best solution of each problem");
  command->add_flag("--scores", options->scores,
                    "Show the scores of the suite (default: core) and its clean subset: fast_p, geometric means");
  command->footer(
      "Each row shows the time with its interval, the speed-up over naive and over libraries, the share of the bound,\n"
      "the cost and the author. --scores shows fast_0, fast_1, fast_1.5, fast_2 and geometric means over naive,\n"
      "PyTorch eager and the best mode of torch.compile, with their definitions.");
  command->callback([options, &invocation] { leaderboard(*options, invocation); });
}

}  // namespace agent::cli::commands
