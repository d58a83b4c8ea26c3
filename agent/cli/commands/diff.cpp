// kernelwright diff A B: shows the changes between two solutions and their figures side by side.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "agent/actions/resolve.h"
#include "agent/campaign/startup.h"
#include "agent/cli/attempt_text.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/output.h"
#include "agent/cli/solution_text.h"
#include "agent/cli/table.h"
#include "core/text.h"
#include "results/archive/problems.h"
#include "results/view/json.h"
#include "results/view/text_diff.h"

namespace agent::cli::commands {
namespace {
using core::Json;
using Align = Table::Align;

struct Side {
  results::archive::SolutionRecord solution;
  std::optional<results::archive::RecordedAttempt> attempt;
  std::string plan;
};

Side side_of(const results::archive::Reader& archive, const std::string& word) {
  actions::ResolvedSolution resolved = actions::resolve_solution(archive, word, "diff");
  Side side{std::move(resolved.solution), {}, ""};
  if (!resolved.attempt) return side;
  side.attempt = archive.attempt(*resolved.attempt);
  side.plan = plan_text(*side.attempt, results::archive::problem_of_attempt(archive, *resolved.attempt).json);
  return side;
}

std::string title(const Side& side) {
  return core::clean_line(side.solution.name) + " " + side.solution.hash.substr(0, 12) + " (" + side.solution.problem +
         ")" +
         (side.attempt ? fmt::format(", attempt {} on {}", side.attempt->id, side.attempt->device)
                       : std::string(", never tried"));
}

const verifier::verdicts::WorkloadTiming* timing_of(const Side& side, const std::string& workload) {
  if (!side.attempt || !side.attempt->measurement) return nullptr;
  for (const verifier::verdicts::WorkloadTiming& timing : side.attempt->measurement->workloads) {
    if (timing.workload == workload) return &timing;
  }
  return nullptr;
}

std::vector<std::string> workloads_of(const Side& a, const Side& b) {
  std::vector<std::string> names;
  for (const Side* side : {&a, &b}) {
    if (!side->attempt || !side->attempt->measurement) continue;
    for (const verifier::verdicts::WorkloadTiming& timing : side->attempt->measurement->workloads) {
      if (std::find(names.begin(), names.end(), timing.workload) == names.end()) names.push_back(timing.workload);
    }
  }
  return names;
}

std::string over_text(const verifier::verdicts::WorkloadTiming* timing) {
  return timing == nullptr ? "" : format_speed_up(timing->speed_up.value, timing->speed_up.low, timing->speed_up.high);
}

std::string figures_text(const Side& a, const Side& b) {
  Table table({{"  WORKLOAD"},
               {"TIME A", Align::right},
               {"TIME B", Align::right},
               {"A / B", Align::right},
               {"A OVER " + (a.attempt ? a.attempt->against : ""), Align::right},
               {"B OVER " + (b.attempt ? b.attempt->against : ""), Align::right}});
  for (const std::string& workload : workloads_of(a, b)) {
    const auto *of_a = timing_of(a, workload), *of_b = timing_of(b, workload);
    table.add_row(
        {"  " + workload, of_a ? format_time_us(of_a->candidate_us) : "",
         of_b ? format_time_us(of_b->candidate_us) : "",
         of_a && of_b && of_b->candidate_us > 0 ? format_speed_up(of_a->candidate_us / of_b->candidate_us) : "",
         over_text(of_a), over_text(of_b)});
  }
  if (table.empty()) return "";
  const bool same_device = a.attempt && b.attempt && a.attempt->device == b.attempt->device;
  return "figures (A / B above 1: B is faster; the two were not timed as pairs" +
         std::string(same_device ? "" : ", nor on the same device") + "):\n" + table.text();
}

std::string tunables_of(const Side& side) { return side.attempt ? sandbox::describe(side.attempt->binding) : ""; }

Json side_json(const Side& side) {
  Json json{{"solution", side.solution.name}, {"hash", side.solution.hash}, {"problem", side.solution.problem}};
  json["attempt"] = side.attempt ? results::view::json_of(*side.attempt) : Json();
  return json;
}

void diff(const std::string& a_word, const std::string& b_word, const Invocation& invocation) {
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  const Side a = side_of(archive, a_word), b = side_of(archive, b_word);
  const std::string source = results::view::unified_diff(a.solution.source, b.solution.source);
  if (invocation.json) {
    Json figures = Json::array();
    for (const std::string& workload : workloads_of(a, b)) {
      const auto *of_a = timing_of(a, workload), *of_b = timing_of(b, workload);
      figures.push_back({{"workload", workload},
                         {"a_us", of_a ? Json(of_a->candidate_us) : Json()},
                         {"b_us", of_b ? Json(of_b->candidate_us) : Json()}});
    }
    print_json({{"a", side_json(a)},
                {"b", side_json(b)},
                {"source", source},
                {"plan", results::view::unified_diff(a.plan, b.plan)},
                {"figures", std::move(figures)}});
    return;
  }
  print("A: {}\nB: {}\n", core::clean_line(title(a)), core::clean_line(title(b)));
  if (a.solution.problem != b.solution.problem) print("They solve different problems.\n");
  if (tunables_of(a) != tunables_of(b)) print("tunables: {} -> {}\n", tunables_of(a), tunables_of(b));
  const std::string plan = results::view::unified_diff(a.plan, b.plan);
  print("\n{}", plan.empty() ? "the launch plans are the same\n" : "launch plan:\n" + plan);
  const std::string figures = figures_text(a, b);
  print("\n{}", figures.empty() ? "neither has been timed\n" : figures);
  print("\n{}", source.empty() ? "the sources are the same\n" : "source:\n" + source);
}
}  // namespace

void add_diff_command(CLI::App& app, Invocation& invocation) {
  auto a = std::make_shared<std::string>(), b = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("diff", "Show the changes between two solutions in source, launch plan and figures");
  command->add_option("A", *a, "The number of an attempt, or a solution's name or hash prefix")->required();
  command->add_option("B", *b, "The other one, in the same form")->required();
  command->callback([a, b, &invocation] { diff(*a, *b, invocation); });
}

}  // namespace agent::cli::commands
