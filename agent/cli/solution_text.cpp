#include "agent/cli/solution_text.h"

#include <fmt/format.h>

#include "agent/cli/leaderboard_text.h"
#include "agent/cli/table.h"
#include "benchsuite/problem.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::cli {
namespace {
using core::Json;
using Align = Table::Align;

struct BoundPlan {
  std::string workload;
  sandbox::LaunchPlan plan;
};

// nullopt with the reason in `why`: the plan was refused, or uses fields of another version.
std::optional<BoundPlan> bound_plan(const results::archive::RecordedAttempt& attempt, const std::string& problem_json,
                                    std::string& why) {
  try {
    const benchsuite::Problem problem = benchsuite::parse_problem(problem_json, attempt.problem);
    const sandbox::Solution solution = sandbox::parse_solution(attempt.source, attempt.solution);
    const std::string backend = attempt.device.substr(0, attempt.device.find(' '));
    for (const benchsuite::Workload& workload : problem.workloads) {
      if (workload.role != benchsuite::Role::bench || !workload.runs_on(backend)) continue;
      return BoundPlan{workload.name, sandbox::bind_plan(solution, attempt.binding, workload.axes, &problem)};
    }
    why = "its problem has no bench workload on " + backend;
  } catch (const core::InputError& error) {
    why = error.what();
  }
  return std::nullopt;
}

std::string dims(const std::array<int64_t, 3>& d) {
  if (d[1] == 1 && d[2] == 1) return std::to_string(d[0]);
  return fmt::format("{}x{}{}", d[0], d[1], d[2] == 1 ? "" : fmt::format("x{}", d[2]));
}

std::string describe(const sandbox::PlanArg& arg) {
  if (const auto* buffer = std::get_if<sandbox::BufferArg>(&arg)) return buffer->name;
  if (const auto* scalar = std::get_if<sandbox::ScalarArg>(&arg)) return core::text_of(scalar->value);
  return std::get<sandbox::TensorMapArg>(arg).name;
}

std::string share(const std::optional<double>& value) { return value ? fmt::format("{:.0f} %", 100 * *value) : ""; }
std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.3g}", *value) : ""; }

std::string longest_stalls(const std::map<std::string, double>& stalls) {
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [reason, cycles] : stalls) sorted.push_back({cycles, reason});
  std::sort(sorted.rbegin(), sorted.rend());
  std::vector<std::string> words;
  for (size_t i = 0; i < std::min<size_t>(2, sorted.size()); ++i) {
    words.push_back(fmt::format("{} {:.1f}", sorted[i].second, sorted[i].first));
  }
  return core::join(words, ", ");
}
}  // namespace

std::string plan_text(const results::archive::RecordedAttempt& attempt, const std::string& problem_json) {
  std::string why;
  const std::optional<BoundPlan> bound = bound_plan(attempt, problem_json, why);
  if (!bound) return core::clean_line("no launch plan to show: " + why) + "\n";
  std::string text = core::clean_line("launch plan at " + bound->workload) + ":\n";
  for (const sandbox::PlannedWorkspace& workspace : bound->plan.workspaces) {
    text += core::clean_line(fmt::format("  workspace {} of {} bytes{}", workspace.name, workspace.bytes,
                                         workspace.zeroed ? ", zeroed" : "")) +
            "\n";
  }
  for (const sandbox::PlannedLaunch& launch : bound->plan.launches) {
    std::vector<std::string> args;
    for (const sandbox::PlanArg& arg : launch.args) args.push_back(describe(arg));
    text += core::clean_line(
                fmt::format("  {}<<<{}, {}{}>>>({}){}{}{}", launch.kernel, dims(launch.grid), dims(launch.block),
                            launch.shared_bytes > 0 ? fmt::format(", {} bytes", launch.shared_bytes) : "",
                            core::join(args, ", "), launch.clustered() ? ", clusters of " + dims(launch.cluster) : "",
                            launch.cooperative ? ", cooperative" : "",
                            launch.overlaps_previous ? ", overlaps the previous launch" : "")) +
            "\n";
  }
  return text;
}

Json plan_json(const results::archive::RecordedAttempt& attempt, const std::string& problem_json) {
  std::string why;
  const std::optional<BoundPlan> bound = bound_plan(attempt, problem_json, why);
  if (!bound) return {};
  Json launches = Json::array(), workspaces = Json::array();
  for (const sandbox::PlannedWorkspace& workspace : bound->plan.workspaces) {
    workspaces.push_back({{"name", workspace.name}, {"bytes", workspace.bytes}, {"zeroed", workspace.zeroed}});
  }
  for (const sandbox::PlannedLaunch& launch : bound->plan.launches) {
    Json args = Json::array();
    for (const sandbox::PlanArg& arg : launch.args) args.push_back(describe(arg));
    launches.push_back({{"kernel", launch.kernel},
                        {"grid", launch.grid},
                        {"block", launch.block},
                        {"cluster", launch.cluster},
                        {"shared_bytes", launch.shared_bytes},
                        {"cooperative", launch.cooperative},
                        {"overlaps_previous", launch.overlaps_previous},
                        {"args", std::move(args)}});
  }
  return {{"workload", bound->workload}, {"workspaces", std::move(workspaces)}, {"launches", std::move(launches)}};
}

std::string counters_text(const std::vector<verifier::verdicts::Counters>& launches) {
  if (launches.empty()) return "";
  Table table({{"  KERNEL"},
               {"DRAM", Align::right},
               {"COMPUTE", Align::right},
               {"TENSOR", Align::right},
               {"L2 HITS", Align::right},
               {"OCCUPANCY", Align::right},
               {"SECTORS", Align::right},
               {"CONFLICTS", Align::right},
               {"LANES", Align::right},
               {"WAITS FOR"}});
  for (const verifier::verdicts::Counters& c : launches) {
    table.add_row({"  " + cut(core::clean_line(c.kernel), 24), share(c.dram), share(c.compute), share(c.tensor),
                   share(c.l2_hits), share(c.occupancy), number(c.load_sectors), share(c.conflicts), number(c.lanes),
                   longest_stalls(c.stalls)});
  }
  const std::string& workload = launches.front().workload;
  return "profile" + (workload.empty() ? "" : " at " + core::clean_line(workload)) + ", one line per launch:\n" +
         table.text();
}

std::string descent_text(const results::archive::Descent& descent, const std::string& origin,
                         const std::string& parent_name) {
  std::string text = parent_name.empty() ? "proposed" : "made from " + parent_name;
  text += " by " + (descent.model.empty() ? origin : descent.model);
  if (!descent.task.empty()) text += " (" + descent.task + ")";
  if (descent.ancestors > 0)
    text += fmt::format(", {} ancestor{}", descent.ancestors, descent.ancestors > 1 ? "s" : "");
  if (const std::string cost = format_cost(descent.lineage); !cost.empty()) text += "; " + cost + " in all";
  return core::clean_line(text);
}

std::string stands_text(const std::vector<results::archive::Stand>& stands) {
  Table table({{"  DEVICE"}, {"OVER NAIVE", Align::right}, {"CONFIRMED"}, {"ATTEMPT", Align::right}, {"TUNABLES"}});
  for (const results::archive::Stand& stand : stands) {
    table.add_row({"  " + stand.device, format_speed_up(stand.speed_up.value, stand.speed_up.low, stand.speed_up.high),
                   stand.confirmed ? "yes" : "no", std::to_string(stand.attempt), sandbox::describe(stand.binding)});
  }
  return table.empty() ? "" : table.text();
}

}  // namespace agent::cli
