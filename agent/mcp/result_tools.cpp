#include <algorithm>
#include <set>

#include "agent/actions/first_prompt.h"
#include "agent/actions/resolve.h"
#include "agent/campaign/device_text.h"
#include "agent/learning/similarity.h"
#include "agent/mcp/figures.h"
#include "agent/mcp/schema.h"
#include "agent/mcp/tools.h"
#include "agent/prompting/code_facts.h"
#include "agent/prompting/identity.h"
#include "core/error.h"
#include "core/text.h"
#include "results/archive/leaderboard.h"
#include "results/view/json.h"

namespace agent::mcp {
namespace {
using core::Json;
using results::archive::LeaderboardRow;
constexpr size_t kMostCompared = 300;  // solutions

Json json_of_row(const LeaderboardRow& row) {
  const Json whole = results::view::json_of(row);
  Json json = Json::object();
  for (const char* name : {"kind", "rank", "problem", "device", "solution", "hash", "tunables", "confirmed", "speed_up",
                           "low", "high", "time_us", "share_of_bound", "workloads", "attempt", "older_files"}) {
    if (!whole.at(name).is_null()) json[name] = whole.at(name);
  }
  json["author"] = row.descent.model.empty() ? row.origin : row.descent.model;
  return with_short_figures(std::move(json));
}

results::archive::LeaderboardFilter filter_of(Workspace& workspace) {
  results::archive::LeaderboardFilter filter;
  filter.device = workspace.device_kind();
  filter.here = campaign::hashes_here(workspace.catalogue());
  return filter;
}

ToolResult best(Workspace& workspace, const Json& arguments) {
  results::archive::LeaderboardFilter filter = filter_of(workspace);
  if (arguments.contains("problem")) filter.problem = workspace.problem(arguments.at("problem"), "problem").name;
  filter.limit = arguments.value("limit", size_t{5});
  filter.unconfirmed = arguments.value("unconfirmed", false);
  Json rows = Json::array();
  for (const LeaderboardRow& row : results::archive::leaderboard(workspace.archive(), filter)) {
    rows.push_back(json_of_row(row));
  }
  return {{{"rows", std::move(rows)}}};
}

ToolResult solution(Workspace& workspace, const Json& arguments) {
  const auto word = arguments.at("which").get<std::string>();
  const actions::ResolvedSolution found = actions::resolve_solution(workspace.archive(), word, "which");
  Json json{{"solution", found.solution.name},   {"hash", found.solution.hash},
            {"problem", found.solution.problem}, {"author", found.solution.origin},
            {"source", found.solution.source},   {"attempts", found.solution.attempts}};
  std::string text = found.solution.name + " for " + found.solution.problem + " by " + found.solution.origin;
  if (found.attempt) {
    const Json attempt = results::view::brief_json_of(workspace.archive().attempt(*found.attempt));
    for (const char* name : {"attempt", "tunables", "device", "effort", "sentence", "against", "outcome", "speed_up"}) {
      if (attempt.contains(name)) json[name] = with_short_figures(attempt.at(name));
    }
    json["verdict"] = attempt.at("verdict_name");
    text += "; attempt " + std::to_string(*found.attempt) + ": " + attempt.at("sentence").get<std::string>();
  }
  return {json, core::clean_line(text) + "\n\n" + found.solution.source};
}

// "block 256, grid 8192; shuffles, 2 barriers"; empty for a solution that cannot be read any more.
std::string features_of(Workspace& workspace, const LeaderboardRow& row, const std::string& source) {
  try {
    const benchsuite::Problem& problem = workspace.problem(row.problem, "");
    const benchsuite::Workload* bench =
        prompting::first_bench(problem, std::string(name_of(workspace.settings().device.backend)));
    if (bench == nullptr) return "";
    return prompting::distinguishing_line(
        prompting::facts_of(sandbox::parse_solution(source, row.solution), row.binding, bench->axes, problem));
  } catch (const core::InputError&) {
    return "";
  }
}

// Judged solutions of the same problem and of problems of its kind.
std::vector<LeaderboardRow> related_rows(Workspace& workspace, const benchsuite::Problem& problem) {
  results::archive::LeaderboardFilter filter = filter_of(workspace);
  filter.unconfirmed = true;
  std::vector<LeaderboardRow> rows;
  for (LeaderboardRow& row : results::archive::leaderboard(workspace.archive(), filter)) {
    if (row.library || rows.size() >= kMostCompared) continue;
    const auto other = workspace.catalogue().problems.find(row.problem);
    if (other != workspace.catalogue().problems.end() && other->second.kind == problem.kind)
      rows.push_back(std::move(row));
  }
  return rows;
}

ToolResult similar(Workspace& workspace, const Json& arguments) {
  const auto source = arguments.at("source").get<std::string>();
  const benchsuite::Problem& problem =
      workspace.problem(sandbox::parse_solution(source, "source").problem, "source#/problem");
  const std::set<std::string> runs = learning::token_runs(source);
  const std::string identity = prompting::identity_of(source);
  std::vector<std::pair<double, Json>> found;
  for (const LeaderboardRow& row : related_rows(workspace, problem)) {
    const std::string other = workspace.archive().solution(row.solution_id).source;
    const double alike = learning::likeness(runs, learning::token_runs(other));
    Json json = json_of_row(row);
    json.erase("workloads");
    json["likeness"] = with_short_figures(alike);
    json["same"] = prompting::identity_of(other) == identity;
    json["features"] = features_of(workspace, row, other);
    found.emplace_back(alike, std::move(json));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  found.resize(std::min(found.size(), arguments.value("limit", size_t{5})));
  Json rows = Json::array();
  for (auto& [alike, json] : found) rows.push_back(std::move(json));
  return {{{"rows", std::move(rows)}}};
}

ToolResult prompt(Workspace& workspace, const Json& arguments) {
  const benchsuite::Problem& problem = workspace.problem(arguments.at("problem").get<std::string>(), "problem");
  const prompting::DeviceText device =
      campaign::device_text(workspace.session(), workspace.archive().newest_calibration(workspace.session().device()));
  actions::PromptWish wish{arguments.value("operator", ""), static_cast<int>(arguments.value("wanted", 1))};
  wish.learns = !arguments.value("hold_out", false);
  const prompting::MadePrompt made = actions::first_prompt(workspace.archive(), device, workspace.device_kind(),
                                                           problem, wish, workspace.paths().prompts());
  return {{{"tokens", made.tokens}, {"cards", made.cards}, {"prompt", made.prompt.as_text()}}, made.prompt.as_text()};
}

Json rows_schema() {
  const Json row = result_schema({{"problem", text_schema("of the solution")},
                                  {"solution", text_schema("its name")},
                                  {"hash", text_schema("solution takes it")},
                                  {"speed_up", number_schema("over naive; low and high: its 99 % interval")},
                                  {"time_us", number_schema("at the first timed shape")},
                                  {"share_of_bound", number_schema("1: as fast as the device's measured peaks allow")},
                                  {"author", text_schema("who wrote it")}},
                                 {"problem", "solution", "author"});
  return result_schema({{"rows", list_schema("the first is the best", row)}}, {"rows"});
}

Json limit_schema() { return integer_schema("Most rows for a problem (default: 5)", 1, 100); }
}  // namespace

std::vector<Tool> result_tools(Workspace& workspace) {
  const auto on = [&workspace](ToolResult (*action)(Workspace&, const Json&)) {
    return [&workspace, action](const Json& arguments, Call&) { return action(workspace, arguments); };
  };
  const Json source = source_arguments().at("source");
  return {
      {"best", "Leaderboard", "Lists the best confirmed solutions of a problem, or of all, on this device.",
       object_schema({{"problem", text_schema("Only this problem", 200)},
                      {"limit", limit_schema()},
                      {"unconfirmed", boolean_schema("Also list right solutions that have no confirmed win")}},
                     {}),
       rows_schema(), true, on(best)},
      {"solution", "Show a solution", "Shows a recorded solution: its source, author, verdict and speed-up.",
       object_schema({{"which", text_schema("The number of an attempt, the hash of a solution (six digits or more), or "
                                            "NAME@PROBLEM",
                                            300)}},
                     {"which"}),
       result_schema({{"solution", text_schema("its name")},
                      {"problem", text_schema("of the solution")},
                      {"source", text_schema("the whole file")}},
                     {"solution", "problem", "source"}),
       true, on(solution)},
      {"similar", "Find similar kernels",
       "Finds judged solutions whose code is like this one, for the same problem and others of its kind, with their "
       "speed-ups: whether it was tried before, and what went further.",
       object_schema({{"source", source}, {"limit", limit_schema()}}, {"source"}), rows_schema(), true, on(similar)},
      {"prompt", "Make a prompt",
       "Makes the prompt that Kernelwright gives its own models for this problem: the task, the format, device facts, "
       "technique cards and the best known solutions.",
       object_schema({{"problem", text_schema("The problem's name", 200)},
                      {"operator", choice_schema("The task (default: improve the best known solution, else fresh)",
                                                 core::enum_names<prompting::Operator>())},
                      {"wanted", integer_schema("Solutions to ask for (default: 1)", 1, 8)},
                      {"hold_out", boolean_schema("The problem is for an evaluation: show nothing of what earlier "
                                                  "campaigns found for others (default: false)")}},
                     {"problem"}),
       result_schema({{"prompt", text_schema("its text")}, {"tokens", integer_schema("about", 0, INT64_MAX)}},
                     {"prompt", "tokens"}),
       true, on(prompt)},
  };
}

}  // namespace agent::mcp
