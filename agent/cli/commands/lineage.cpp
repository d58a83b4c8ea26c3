// kernelwright lineage ID: shows a solution's ancestors.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "agent/actions/resolve.h"
#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/leaderboard_text.h"
#include "agent/cli/output.h"
#include "agent/cli/solution_text.h"
#include "agent/cli/table.h"
#include "core/text.h"
#include "results/view/json.h"
#include "results/view/text_diff.h"

namespace agent::cli::commands {
namespace {
using core::Json;

std::string name_of(const results::archive::LineageStep& step) {
  return core::clean_line(step.solution.name) + " " + step.solution.hash.substr(0, 12);
}

// Counts of lines that a diff adds and removes.
std::string change_text(const results::archive::LineageStep& before, const results::archive::LineageStep& after) {
  int added = 0, removed = 0;
  for (const std::string& line :
       core::split(results::view::unified_diff(before.solution.source, after.solution.source), '\n')) {
    added += line.rfind('+', 0) == 0 ? 1 : 0;
    removed += line.rfind('-', 0) == 0 ? 1 : 0;
  }
  return fmt::format("{} line{} more, {} fewer", added, added == 1 ? "" : "s", removed);
}

void show(const std::string& word, bool with_source, const Invocation& invocation) {
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  const actions::ResolvedSolution resolved = actions::resolve_solution(archive, word, "lineage");
  const std::vector<results::archive::LineageStep> steps = results::archive::lineage(archive, resolved.solution.id);
  Json all = Json::array();
  for (size_t i = steps.size(); i-- > 0;) {  // the oldest ancestor first
    const results::archive::LineageStep& step = steps[i];
    const results::archive::LineageStep* parent = i + 1 < steps.size() ? &steps[i + 1] : nullptr;
    if (invocation.json) {
      Json one = results::view::json_of(step.descent);
      one["solution"] = step.solution.name;
      one["hash"] = step.solution.hash;
      one["problem"] = step.solution.problem;
      one["origin"] = step.solution.origin;
      one["added"] = step.solution.added;
      one["stands"] = Json::array();
      for (const results::archive::Stand& stand : step.stands) one["stands"].push_back(results::view::json_of(stand));
      one["diff"] =
          parent != nullptr ? Json(results::view::unified_diff(parent->solution.source, step.solution.source)) : Json();
      all.push_back(std::move(one));
      continue;
    }
    const std::string cost = format_cost(step.descent.own);
    print("{}. {} for {}\n   {}{}\n", steps.size() - i, name_of(step), step.solution.problem,
          descent_text(step.descent, step.solution.origin, parent != nullptr ? parent->solution.name : ""),
          cost.empty() ? "" : "; this step: " + cost);
    if (parent != nullptr) print("   {}\n", change_text(*parent, step));
    const std::string stands = stands_text(step.stands);
    print("{}", stands.empty() ? "   never judged correct against naive\n" : stands);
    if (with_source && parent != nullptr)
      print("{}", results::view::unified_diff(parent->solution.source, step.solution.source));
  }
  if (invocation.json) {
    print_json(all);
  } else if (!with_source && steps.size() > 1) {
    print("--diff shows what each step changed.\n");
  }
}
}  // namespace

void add_lineage_command(CLI::App& app, Invocation& invocation) {
  auto word = std::make_shared<std::string>();
  auto with_source = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("lineage", "Show the ancestors of a solution, and its cost");
  command->add_option("ID", *word, "The number of an attempt, or a solution's name or hash prefix")->required();
  command->add_flag("--diff", *with_source, "Show the changes of each step in the source");
  command->callback([word, with_source, &invocation] { show(*word, *with_source, invocation); });
}

}  // namespace agent::cli::commands
