// kernelwright strategies [PROBLEM...]: spends the same budget with each search strategy, and shows how they compare.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>

#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/leaderboard_text.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/cli/running/campaign_run.h"
#include "agent/cli/table.h"
#include "agent/search/strategy.h"
#include "core/error.h"
#include "core/hash.h"
#include "results/view/strategies.h"

namespace agent::cli::commands {
namespace {
using results::archive::TrialCampaign;
constexpr const char* kTuner = "tune";

struct StrategiesOptions {
  running::RunOptions run;
  std::vector<std::string> strategies;
  int seeds = 3;
  std::string trial;

  bool names_problems() const { return !run.problems.empty() || !run.suite.empty(); }
};

// Campaigns that differ in problem, strategy and seed alone are of one trial.
std::string trial_of(const campaign::CampaignSettings& settings) {
  core::Json budget = to_json(settings);
  for (const char* key : {"problems", "strategy", "seed", "shipped", "solutions"}) budget.erase(key);
  return core::sha256_hex(budget.dump()).substr(0, 8);
}

std::string in_words(const campaign::CampaignSettings& settings) {
  std::string models;
  for (const std::string& name : settings.proposers) models += (models.empty() ? "" : ", ") + name;
  return fmt::format("on {} with {}: {} requests and {:.0f} s at most for each problem", settings.device, models,
                     settings.spending.requests.value_or(0), settings.budget.seconds.value_or(0));
}

// The trial's campaign for this strategy, problem and seed; null: the archive has none.
const TrialCampaign* find_campaign(const std::vector<TrialCampaign>& all, const std::string& strategy,
                                   const std::string& problem, uint64_t seed) {
  const TrialCampaign* found = nullptr;
  for (const TrialCampaign& one : all) {
    if (one.strategy == strategy && one.problem == problem && one.seed == seed && one.record.status != "failed") {
      found = &one;
    }
  }
  return found;
}

// Runs what the archive lacks. False where the user interrupts it, or a campaign fails.
bool run_missing(const StrategiesOptions& options, const campaign::LoadedData& data,
                 const std::vector<std::string>& problems, Invocation& invocation) {
  const size_t all = static_cast<size_t>(options.seeds) * problems.size() * options.strategies.size();
  size_t number = 0;
  for (uint64_t seed = 1; seed <= static_cast<uint64_t>(options.seeds); ++seed) {
    for (const std::string& problem : problems) {
      for (const std::string& strategy : options.strategies) {
        ++number;
        const auto known = results::archive::campaigns_of_trial(campaign::open_seeded_archive(invocation.archive, data),
                                                                options.trial);
        const TrialCampaign* before = find_campaign(known, strategy, problem, seed);
        if (before != nullptr && before->record.status == "done") continue;
        if (!invocation.json) print("\n== {} of {}: {}, {}, seed {}\n", number, all, strategy, problem, seed);
        if (before != nullptr) {
          running::resume_campaign(before->record.name, options.run.models, invocation);
        } else {
          running::RunOptions run = options.run;
          run.problems = {problem};
          run.suite.clear();
          run.no_baselines = true;
          run.settings.models.strategy = strategy;
          run.settings.seed = seed;
          run.settings.trial = options.trial;
          run.settings.learns = false;  // else later campaigns would know what earlier ones found
          run.own_only = strategy != kTuner;
          if (strategy == kTuner) run.settings.proposers.clear(), run.settings.planner.clear();
          running::run_campaign(run, invocation);
        }
        if (invocation.exit_code != 0) return false;
      }
    }
  }
  return true;
}

std::string format_share(const results::view::Share& share) {
  return share.of == 0 ? "" : fmt::format("{}/{} [{:.2f}, {:.2f}]", share.count, share.of, share.low, share.high);
}

std::string format_over_tuned(const results::view::StrategyFigures& one) {
  if (const auto& interval = one.over_tuned_interval) {
    return format_speed_up(interval->value, interval->low, interval->high);
  }
  return one.over_tuned ? format_speed_up(*one.over_tuned) : "";
}

std::string table_of(const std::vector<results::view::StrategyFigures>& all) {
  using Align = Table::Align;
  size_t most = 0;
  for (const auto& one : all) most = std::max(most, one.correct_within.size());
  std::vector<size_t> shown;  // within so many requests
  for (const size_t n : {size_t{1}, size_t{3}, most}) {
    if (n > 0 && n <= most && std::ranges::find(shown, n) == shown.end()) shown.push_back(n);
  }
  std::vector<Table::Column> columns{{"STRATEGY", Align::left}, {"CAMPAIGNS", Align::right}};
  for (const size_t n : shown) columns.push_back({fmt::format("CORRECT WITHIN {}", n), Align::right});
  for (const char* title : {"WINS OVER TUNED", "OVER TUNED", "REQUESTS", "TOKENS", "COST", "SECONDS"}) {
    columns.push_back({title, Align::right});
  }
  Table table(columns);
  for (const results::view::StrategyFigures& one : all) {
    std::vector<std::string> row{one.strategy, std::to_string(one.campaigns)};
    const std::vector<results::view::Share>& within = one.correct_within;
    for (const size_t n : shown)
      row.push_back(within.empty() ? "" : format_share(within[std::min(n, within.size()) - 1]));
    row.push_back(one.strategy == kTuner ? "" : format_share(one.wins));
    row.push_back(format_over_tuned(one));
    const bool asks = one.requests > 0;
    row.push_back(asks ? fmt::format("{:.1f}", one.requests) : "");
    row.push_back(asks ? format_tokens(static_cast<int64_t>(one.tokens)) : "");
    row.push_back(asks && one.all_priced ? fmt::format("${:.3f}", one.dollars) : "");
    row.push_back(fmt::format("{:.1f}", one.seconds));
    table.add_row(row);
  }
  return table.text();
}

void show_table(const std::string& trial, Invocation& invocation) {
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  const std::vector<TrialCampaign> campaigns = results::archive::campaigns_of_trial(archive, trial);
  if (campaigns.empty()) {
    throw core::InputError("strategies",
                           trial.empty() ? "the archive has no comparison of strategies yet"
                                         : "the archive has no trial \"" + trial + "\"",
                           "make one: kernelwright strategies --suite quick --proposer MODEL");
  }
  const auto all = results::view::strategy_figures(campaigns);
  if (invocation.json) {
    core::Json rows = core::Json::array(), cells = core::Json::array();
    for (const auto& one : all) rows.push_back(results::view::json_of(one));
    for (const TrialCampaign& one : campaigns) cells.push_back(results::view::json_of(one));
    return print_json({{"event", "strategies"},
                       {"trial", trial},
                       {"strategies", rows},
                       {"campaigns", cells},
                       {"definitions", results::view::strategy_definitions()}});
  }
  const TrialCampaign& with_models = *std::ranges::max_element(
      campaigns, {}, [](const TrialCampaign& one) { return one.record.settings.at("proposers").size(); });
  const auto settings = campaign::campaign_settings_from_json(
      core::JsonView(with_models.record.settings, "campaign " + with_models.record.name));
  std::set<std::string> problems;
  for (const TrialCampaign& one : campaigns) problems.insert(one.problem);
  print("\nTrial {} {}; {} problem{}\n\n{}\n", trial, in_words(settings), problems.size(),
        problems.size() == 1 ? "" : "s", table_of(all));
  for (const auto& one : all) {
    if (one.unfinished > 0) print("{}: {} unfinished, not counted\n", one.strategy, one.unfinished);
  }
  for (const std::string& sentence : results::view::strategy_definitions()) print("  {}\n", sentence);
}

void strategies(StrategiesOptions& options, Invocation& invocation) {
  if (!options.names_problems()) {
    if (!options.run.settings.proposers.empty()) {
      throw core::UsageError("strategies", "names no problem", "name some, or give --suite core");
    }
    if (options.trial.empty()) {
      const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
      options.trial = results::archive::newest_trial(archive).value_or("");
    }
    return show_table(options.trial, invocation);
  }
  if (options.run.settings.proposers.empty()) {
    throw core::UsageError("strategies", "names problems, but no model to compare strategies of",
                           "add --proposer MODEL; without problems it shows what the archive has");
  }
  if (!options.trial.empty()) {
    throw core::UsageError("--trial", "is for showing a trial that the archive has",
                           "leave it out: the same options continue the same trial");
  }
  if (options.strategies.empty()) options.strategies = search::strategy_names();
  // The tuner first: the others are compared with it.
  std::stable_partition(options.strategies.begin(), options.strategies.end(),
                        [](const std::string& name) { return name == kTuner; });
  campaign::LoadedData data = load_data(invocation);
  const std::vector<std::string> problems = running::chosen_problems(options.run, data);
  options.trial = trial_of(options.run.settings);
  const bool complete = run_missing(options, data, problems, invocation);
  show_table(options.trial, invocation);
  if (!complete && !invocation.json) print("Not complete: the same command goes on where this one stopped.\n");
}
}  // namespace

void add_strategies_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<StrategiesOptions>();
  campaign::CampaignSettings& settings = options->run.settings;
  settings.budget.seconds = 60;
  settings.spending.requests = 5;
  CLI::App* command =
      app.add_subcommand("strategies", "Spend the same budget with each search strategy, and show how they compare");
  command->add_option("PROBLEM", options->run.problems, "Problems to search, by name or folder");
  command->add_option("--suite", options->run.suite, "A list of problems: core, quick, transformer, shipped");
  command->add_option("--device", settings.device, "Where candidates run, as for kernelwright run");
  command->add_option("--strategy", options->strategies, "Only these strategies (default: all); may be repeated")
      ->check(CLI::IsMember(search::strategy_names()))
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--seeds", options->seeds, "Campaigns of each strategy and problem, with seeds from 1")
      ->check(CLI::Range(1, 100));
  command->add_option("--seconds", settings.budget.seconds, "Time of a campaign at most")->check(CLI::PositiveNumber);
  command->add_option("--trial", options->trial, "Show this trial (default: the newest); runs nothing");
  running::add_proposer_options(*command, settings);
  running::add_model_options(*command, options->run.models);
  command->footer(
      "Each campaign is recorded like any other; the same command goes on where it was interrupted, and more problems\n"
      "or seeds extend the trial. Without a problem it shows the newest trial of the archive.\n\n"
      "    kernelwright strategies --suite core --proposer anthropic:MODEL --requests 5 --seeds 3\n"
      "    kernelwright strategies");
  command->callback([options, &invocation] { strategies(*options, invocation); });
}

}  // namespace agent::cli::commands
