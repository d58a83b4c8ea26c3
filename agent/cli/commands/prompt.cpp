// kernelwright prompt PROBLEM: prints the first prompt for a model, with its token count.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

#include "agent/campaign/calibrations.h"
#include "agent/campaign/device_session.h"
#include "agent/campaign/device_text.h"
#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/models/model.h"
#include "agent/prompting/prompt_maker.h"
#include "agent/search/request_ledger.h"
#include "core/error.h"
#include "core/text.h"
#include "results/archive/leaderboard.h"

namespace agent::cli::commands {
namespace {
struct PromptOptions {
  std::string problem, device = "cpu";
  std::string task;  // empty: improve the best known solution, or start fresh if there is none
  int wanted = 1;
};

// Solutions of the leaderboard for this problem and device, the best first.
std::vector<prompting::KnownSolution> known_solutions(const results::archive::Reader& archive,
                                                      const std::string& problem, const std::string& backend) {
  std::vector<prompting::KnownSolution> known;
  for (const results::archive::LeaderboardRow& row : results::archive::leaderboard(archive, {problem, backend})) {
    if (row.library) continue;
    const results::archive::RecordedAttempt attempt = archive.attempt(row.attempt);
    prompting::KnownSolution solution;
    solution.name = "s" + std::to_string(known.size() + 1);
    solution.solution = sandbox::parse_solution(attempt.source, row.solution);
    solution.binding = row.binding;
    solution.speed_up = row.speed_up;
    solution.time_us = row.time_us();
    if (row.timed()) solution.share_of_bound = row.workloads[0].share_of_bound();
    solution.registers = attempt.registers;
    solution.shared_bytes = attempt.shared_bytes;
    solution.spill_bytes = attempt.spill_bytes;
    known.push_back(std::move(solution));
  }
  return known;
}

void show(const PromptOptions& options, Invocation& invocation) {
  campaign::LoadedData data = load_data(invocation);
  const benchsuite::Problem& problem = data.catalogue.find_or_load(options.problem, "prompt");
  const campaign::DeviceChoice device = campaign::parse_device(options.device);
  results::archive::Recorder archive = campaign::open_seeded_archive(invocation.archive, data);
  const campaign::DeviceSession session(data.paths, device, false, 1);
  prompting::PromptFacts facts;
  facts.problem = prompting::read_problem_text(problem);
  facts.device = campaign::device_text(session, archive.newest_calibration(session.device()));
  facts.known = known_solutions(archive, problem.name, session.backend());
  facts.wanted = options.wanted;
  const std::string task = !options.task.empty() ? options.task : facts.known.empty() ? "fresh" : "improve";
  facts.task = core::enum_from_name<prompting::Operator>(task).value();
  const size_t parents = facts.task == prompting::Operator::cross   ? 2
                         : facts.task == prompting::Operator::fresh ? 0
                                                                    : 1;
  if (facts.known.size() < parents) {
    throw core::InputError("prompt",
                           "\"" + task + "\" needs " + std::to_string(parents) + " known solution(s) of " +
                               problem.name + ", and the leaderboard has " + std::to_string(facts.known.size()),
                           "kernelwright run " + problem.name + " finds some");
  }
  const auto first = facts.known.begin();
  facts.parents.assign(first, first + static_cast<std::ptrdiff_t>(parents));
  facts.known.erase(first, first + static_cast<std::ptrdiff_t>(parents));
  const prompting::MadePrompt made = prompting::PromptMaker(data.paths.prompts()).make(facts);
  if (invocation.json) {
    print_json({{"prompt", search::to_json(made.prompt)}, {"tokens", made.tokens}, {"hash", made.prompt.hash()}});
    return;
  }
  print("{}\n", core::clean_text(made.prompt.as_text(), made.prompt.as_text().size()));
  print("--- about {} tokens; technique cards: {}\n", made.tokens,
        made.cards.empty() ? "none" : core::join(made.cards, ", "));
}
}  // namespace

void add_prompt_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<PromptOptions>();
  CLI::App* command =
      app.add_subcommand("prompt", "Show the prompt that a language model would get, with its token count");
  command->add_option("PROBLEM", options->problem, "The problem, by name or folder")->required();
  command->add_option("--device", options->device, "Where candidates would run: cpu, cuda");
  command->add_option("--operator", options->task, "fresh, improve, repair, cross (default: improve the best known)")
      ->check(CLI::IsMember({"fresh", "improve", "repair", "cross"}));
  command->add_option("--wanted", options->wanted, "Solutions in the reply")->check(CLI::Range(1, 8));
  command->callback([options, &invocation] { show(*options, invocation); });
}

}  // namespace agent::cli::commands
