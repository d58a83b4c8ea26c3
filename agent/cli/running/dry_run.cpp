#include "agent/cli/running/dry_run.h"

#include <fmt/format.h>

#include "agent/campaign/estimate.h"
#include "agent/cli/output.h"
#include "agent/cli/table.h"
#include "agent/learning/exemplars.h"
#include "agent/models/providers.h"
#include "agent/prompting/prompt_maker.h"
#include "core/error.h"

namespace agent::cli::running {
namespace {
using core::Json;

Json to_json(const campaign::Range& range) { return Json::array({range.least, range.most}); }

std::string range_text(const campaign::Range& range, const char* unit = "") {
  if (std::string_view(unit) == "$") return fmt::format("${:.4f} to ${:.4f}", range.least, range.most);
  return fmt::format("{:.0f} to {:.0f}{}", range.least, range.most, unit);
}

Json habits_json(const std::vector<campaign::Habit>& habits) {
  Json rows = Json::array();
  for (const campaign::Habit& habit : habits) {
    rows.push_back({{"model", habit.model},
                    {"replies_known", habit.replies},
                    {"output_tokens", habit.output_tokens},
                    {"seconds", habit.seconds}});
  }
  return rows;
}

void print_habits(const std::vector<campaign::Habit>& habits, const models::Prices& prices) {
  for (const campaign::Habit& habit : habits) {
    print("\n{}: {:.0f} tokens and {:.0f} s a reply ({}); {}", habit.model, habit.output_tokens, habit.seconds,
          habit.replies > 0 ? fmt::format("as in {} replies in the archive", habit.replies)
                            : std::string("assumed: no replies of it in the archive"),
          prices.find(habit.model) != nullptr ? "priced by prompts/prices.json"
                                              : "its price is unknown: add it to prompts/prices.json");
  }
  print("\nNothing was sent.\n");
}
}  // namespace

void print_estimate(const results::archive::Reader& archive, const campaign::CampaignSettings& settings,
                    const campaign::LoadedData& data, const PromptDevice& device, const Invocation& invocation) {
  if (settings.proposers.empty()) {
    throw core::UsageError("run --dry-run", "estimates the cost of models, but none is named",
                           "name one with --proposer");
  }
  for (const std::string& name : models_of(settings)) models::check_model_name(name);
  const prompting::PromptMaker maker(data.paths.prompts());
  const models::Prices prices = models::Prices::load(data.paths.prompts() / "prices.json", models::today());
  std::vector<campaign::Habit> habits;
  for (const std::string& name : models_of(settings)) habits.push_back(campaign::habit_of(archive, name));
  Table table({{"PROBLEM", Table::Align::left},
               {"FIRST PROMPT", Table::Align::right},
               {"REQUESTS", Table::Align::right},
               {"TOKENS", Table::Align::right},
               {"MONEY", Table::Align::right},
               {"TIME", Table::Align::right}});
  Json rows = Json::array();
  std::string limit;
  for (const std::string& name : settings.problems) {
    prompting::PromptFacts facts;
    facts.problem = prompting::read_problem_text(data.catalogue.problems.at(name));
    facts.device = device.text;
    facts.wanted = settings.models.wanted;
    if (!settings.held_out) {
      facts.exemplar = learning::choose_exemplar(archive, facts.problem.problem, device.text, device.kind);
    }
    const int64_t tokens = maker.make(facts, prompting::limits_for(settings.sampling)).tokens;
    const campaign::Estimate made = campaign::estimate(tokens, settings, prices, habits);
    table.add_row({name, fmt::format("{} tokens", tokens), range_text(made.requests), range_text(made.tokens),
                   made.dollars ? range_text(*made.dollars, "$") : "not known", range_text(made.seconds, " s")});
    rows.push_back({{"problem", name},
                    {"prompt_tokens", tokens},
                    {"requests", to_json(made.requests)},
                    {"tokens", to_json(made.tokens)},
                    {"dollars", made.dollars ? to_json(*made.dollars) : Json()},
                    {"seconds", to_json(made.seconds)},
                    {"limit", made.limit}});
    limit += "\n" + name + ": " + made.limit;
  }
  if (invocation.json) return print_json({{"event", "estimate"}, {"problems", rows}, {"models", habits_json(habits)}});
  print("{}{}\n", table.text(), limit);
  if (!device.source.empty()) print("\n{}", device.source);
  print_habits(habits, prices);
}

}  // namespace agent::cli::running
