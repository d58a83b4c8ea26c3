#include "agent/dry_run.h"

#include <fmt/format.h>

#include "agent/device_text.h"
#include "agent/devices.h"
#include "agent/models/providers.h"
#include "agent/output.h"
#include "agent/prompting/prompt_maker.h"
#include "agent/search/estimate.h"
#include "agent/table.h"
#include "core/error.h"

namespace agent {
namespace {
using core::Json;

Json to_json(const Range& range) { return Json::array({range.least, range.most}); }

std::string range_text(const Range& range, const char* unit = "") {
  if (std::string_view(unit) == "$") return fmt::format("${:.4f} to ${:.4f}", range.least, range.most);
  return fmt::format("{:.0f} to {:.0f}{}", range.least, range.most, unit);
}

Json habits_json(const std::vector<Habit>& habits) {
  Json rows = Json::array();
  for (const Habit& habit : habits) {
    rows.push_back({{"model", habit.model},
                    {"replies_known", habit.replies},
                    {"output_tokens", habit.output_tokens},
                    {"seconds", habit.seconds}});
  }
  return rows;
}

void print_habits(const std::vector<Habit>& habits, const models::Prices& prices) {
  for (const Habit& habit : habits) {
    print("\n{}: {:.0f} tokens and {:.0f} s a reply ({}); {}", habit.model, habit.output_tokens, habit.seconds,
          habit.replies > 0 ? fmt::format("as in {} replies that the archive has", habit.replies)
                            : std::string("assumed: the archive has no reply of it"),
          prices.find(habit.model) != nullptr ? "priced by prompts/prices.json"
                                              : "its price is not known: add it to prompts/prices.json");
  }
  print("\nNothing was sent.\n");
}
}  // namespace

void print_estimate(const results::archive::Reader& archive, const CampaignSettings& settings, const Data& data,
                    const Shell& shell) {
  if (settings.proposers.empty()) {
    throw core::InputError("run --dry-run", "estimates what models would cost, and none is named",
                           "name one with --proposer");
  }
  for (const std::string& name : settings.proposers) models::check_model_name(name);
  const Workshop workshop(data.paths, parse_device(settings.device), settings.hot, 1);
  const prompting::DeviceText device = device_text(workshop, archive.newest_calibration(workshop.device()));
  const prompting::PromptMaker maker(data.paths.prompts());
  const models::Prices prices = models::Prices::load(data.paths.prompts() / "prices.json", models::today());
  std::vector<Habit> habits;
  for (const std::string& name : settings.proposers) habits.push_back(habit_of(archive, name));
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
    facts.problem = prompting::read_problem_text(data.problems.at(name));
    facts.device = device;
    facts.wanted = settings.models.wanted;
    const int64_t tokens = maker.make(facts).tokens;
    const Estimate made = estimate(tokens, settings, prices, habits);
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
  if (shell.json) return print_json({{"event", "estimate"}, {"problems", rows}, {"models", habits_json(habits)}});
  print("{}{}\n", table.text(), limit);
  print_habits(habits, prices);
}

}  // namespace agent
