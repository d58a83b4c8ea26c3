// kernelwright run [PROBLEM...] and resume [CAMPAIGN]: run campaigns.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "agent/cli/commands/commands.h"
#include "agent/cli/running/campaign_run.h"
#include "agent/search/strategy.h"

namespace agent::cli::commands {

void add_run_command(CLI::App& app, Invocation& invocation) {
  const auto positive = [](const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return end != text.c_str() && *end == '\0' && value > 0 ? "" : "must be a number above 0, not \"" + text + "\"";
  };
  auto options = std::make_shared<running::RunOptions>();
  campaign::CampaignSettings& settings = options->settings;
  CLI::App* command = app.add_subcommand(
      "run", "Search for faster kernels of some problems, as a campaign that can be interrupted and resumed");
  command->add_option("PROBLEM", options->problems,
                      "Problems to optimise, by name or folder; kernelwright problems lists them");
  command->add_option("--suite", options->suite, "A list of problems to optimise: core, quick, transformer, shipped");
  command->add_option("--device", settings.device,
                      "Where candidates run: cpu, cuda, cuda:N, cuda:all; AMD: hip, hip:N, hip:all");
  running::add_dialect_option(*command, options->dialect);
  command->add_flag("--hot", settings.hot, "On a GPU: time with a warm L2 cache");
  command
      ->add_option("--seconds", settings.budget.seconds,
                   "Time to spend, in equal shares (default: 20 per problem); a share grows by up "
                   "to half for time spent only waiting for replies, and where it ends without a win, its fastest "
                   "screened points are confirmed all the same")
      ->check(positive);
  command->add_option("--attempts", settings.budget.attempts, "Candidates to judge")->check(positive);
  command
      ->add_option("--patience", settings.patience,
                   "Random restarts without a better point before a search has converged")
      ->check(CLI::Range(0, 1'000'000));
  command->add_option("--solution", options->files, "A solution of your own to tune as well; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--launcher", settings.launcher,
                      "Judge on nodes that this command starts: 'srun -Q -N1 -n1 --gpus=1 --exact', 'ssh gpu7', env");
  command->add_option("--nodes", settings.nodes, "How many of them; each searches one problem at a time")
      ->check(CLI::Range(0, 4096));
  command->add_option("--slurm", options->slurm,
                      "Judge on nodes that Slurm starts: PARTITION, for one node for each problem, or PARTITION:COUNT");
  command->add_flag("--own-only", options->own_only, "Leave out the solutions that ship");
  command->add_flag("--no-baselines", options->no_baselines,
                    "On a GPU: skip timing the libraries that have not been timed yet");
  command
      ->add_option("--library", options->libraries,
                   "On a GPU: NAME=FILE.py, what you run today, as kernelwright baselines takes it; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag(
      "--dry-run", options->dry_run,
      "Estimate the requests, tokens, money and time of a search with models; sends nothing and needs no key");
  command->add_option(
      "--arch", options->architecture,
      "With --dry-run: for a GPU that is not here, by its architecture (sm_90a); --device takes its name");
  command->add_option("--seed", settings.seed, "Seed of the search's choices (default: random)");
  running::add_proposer_options(*command, settings);
  command
      ->add_option("--strategy", settings.models.strategy,
                   "How to use models: evolve (islands, crossed and improved), refine (lines of descent), best_of_n "
                   "(fresh solutions), tune (no models: the built-in tuner alone)")
      ->check(CLI::IsMember(search::strategy_names()));
  running::add_model_options(*command, options->models);
  command->footer(
      "On a GPU, a first campaign also calibrates the device and times cuBLAS (rocBLAS) and PyTorch for comparison. "
      "Several\nproposers share the work by their gain per cost; show CAMPAIGN says how. Limits include requests in "
      "flight and survive a kill. "
      "Keys come from the environment or a file, never from the command line.\n\n"
      "    kernelwright run softmax_f32 --seconds 60\n"
      "    kernelwright run --suite core --device cuda\n"
      "    kernelwright run softmax_f32 --proposer anthropic:MODEL --dollars 2\n"
      "    kernelwright run softmax_f32 --proposer http://localhost:8080/v1");
  command->callback([options, &invocation] { running::run_campaign(*options, invocation); });
}

void add_resume_command(CLI::App& app, Invocation& invocation) {
  auto name = std::make_shared<std::string>();
  auto models = std::make_shared<models::ModelOptions>();
  CLI::App* command = app.add_subcommand("resume", "Continue a campaign that was interrupted");
  command->add_option("CAMPAIGN", *name, "Its name or a prefix of it (default: the newest)");
  running::add_model_options(*command, *models);
  command->callback([name, models, &invocation] { running::resume_campaign(*name, *models, invocation); });
}

}  // namespace agent::cli::commands
