#include "agent/learning/exemplars.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "agent/learning/similarity.h"
#include "agent/prompting/cards.h"
#include "agent/prompting/code_facts.h"
#include "benchsuite/shared_headers.h"
#include "core/error.h"
#include "core/text.h"
#include "results/archive/leaderboard.h"
#include "results/archive/problems.h"
#include "sandbox/gpu/driver/driver.h"
#include "verifier/verdicts/bound.h"

namespace agent::learning {
namespace {
using core::Json;
using prompting::Exemplar;
using results::archive::LeaderboardRow;
constexpr size_t kMostSourceBytes = size_t{16} << 10;  // without shared headers

std::set<std::string> held_out_problems(const results::archive::Reader& archive) {
  std::set<std::string> held_out;
  for (const results::archive::CampaignRecord& campaign : archive.campaigns()) {
    if (!campaign.settings.is_object() || !campaign.settings.value("held_out", false)) continue;
    for (const Json& problem : campaign.settings.at("problems")) held_out.insert(problem.get<std::string>());
  }
  return held_out;
}

std::set<core::DType> dtypes_of(const benchsuite::Problem& problem) {
  std::set<core::DType> dtypes;
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const benchsuite::Tensor& tensor : *tensors) dtypes.insert(tensor.dtype);
  }
  return dtypes;
}

// Whether arithmetic limits the first timed workload, not memory; nullopt without a calibration.
std::optional<bool> by_compute(const benchsuite::Problem& problem, const prompting::DeviceText& device) {
  const benchsuite::Workload* bench = prompting::first_bench(problem, device.backend);
  if (!device.calibration || bench == nullptr) return std::nullopt;
  return verifier::verdicts::bound_of(problem, bench->axes, *device.calibration).by_compute;
}

bool runs_on(const prompting::DeviceText& device, const sandbox::Solution& solution) {
  if (std::ranges::find(solution.backends, device.backend) == solution.backends.end()) return false;
  return device.backend != "cuda" || sandbox::gpu::driver::runs_on(device.architecture, solution.arch);
}

// The problem that prompts are for.
struct Asked {
  prompting::ProblemText text;
  std::set<std::string> traits, runs;
  std::optional<bool> by_compute;
  const prompting::DeviceText& device;
};

// What a winner's problem has in common with the one that is asked.
struct Match {
  bool dtypes = false, device = false, limit = false;
  double alike = 0;  // traits and code
  double points() const { return (dtypes ? 4 : 0) + (device ? 2 : 0) + (limit ? 2 : 0) + alike; }
};

Match match_of(const Asked& asked, const prompting::ProblemText& other, const LeaderboardRow& row) {
  Match match;
  match.dtypes = dtypes_of(other.problem) == dtypes_of(asked.text.problem);
  match.device = !benchsuite::is_gpu(*core::enum_from_name<benchsuite::Backend>(asked.device.backend)) ||
                 row.device.ends_with(" " + asked.device.name);
  match.limit = asked.by_compute && by_compute(other.problem, asked.device) == asked.by_compute;
  match.alike =
      (likeness(asked.traits, prompting::traits_of(other)) + likeness(asked.runs, token_runs(other.reference))) / 2;
  return match;
}

std::string why(const Asked& asked, const prompting::ProblemText& other, const Match& match) {
  std::vector<std::string> more;
  if (match.dtypes) more.emplace_back("has the same dtypes");
  if (match.limit) {
    more.push_back(std::string("is limited by ") + (*asked.by_compute ? "arithmetic" : "memory") + ", too");
  }
  more.emplace_back(match.device ? "was won on the same device" : "was won on another device of this backend");
  std::string words =
      fmt::format("{} is of the same kind as your problem ({})", other.problem.name, name_of(other.problem.kind));
  for (size_t i = 0; i < more.size(); ++i) words += (i + 1 == more.size() ? " and " : ", ") + more[i];
  return words + ".";
}

// The row's solution, unless it cannot be shown.
std::optional<Exemplar> exemplar_of(const results::archive::Reader& archive, const Asked& asked,
                                    const benchsuite::Problem& problem, const LeaderboardRow& row) {
  Exemplar exemplar{problem.name, problem.title, row.device, {}, "", ""};
  prompting::KnownSolution& winner = exemplar.winner;
  try {
    winner.solution = sandbox::parse_solution(archive.solution(row.solution_id).source, row.solution);
  } catch (const core::InputError&) {
    return std::nullopt;  // of a form that this version does not read
  }
  const std::string shown = benchsuite::without_shared_headers(winner.solution.source);
  if (!runs_on(asked.device, winner.solution) || shown.size() > kMostSourceBytes) return std::nullopt;
  winner.name = row.solution;
  winner.binding = row.binding;
  winner.speed_up = row.speed_up;
  if (row.timed()) {
    exemplar.workload = row.workloads[0].workload;
    winner.time_us = row.time_us();
    winner.share_of_bound = row.workloads[0].share_of_bound();
  }
  return exemplar;
}

std::optional<benchsuite::Problem> recorded_problem(const results::archive::Reader& archive, const std::string& name) {
  try {
    const auto version = results::archive::last_judged_problem(archive, name);
    return version ? version->problem() : std::nullopt;
  } catch (const core::InputError&) {
    return std::nullopt;  // of a form that this version does not read
  }
}
}  // namespace

std::optional<Exemplar> choose_exemplar(const results::archive::Reader& archive, const benchsuite::Problem& problem,
                                        const prompting::DeviceText& device, const std::string& kind) {
  Asked asked{prompting::read_problem_text(problem), {}, {}, by_compute(problem, device), device};
  asked.traits = prompting::traits_of(asked.text);
  asked.runs = token_runs(asked.text.reference);
  const std::set<std::string> held_out = held_out_problems(archive);
  std::optional<Exemplar> chosen;
  double most = 0;
  for (const LeaderboardRow& row : results::archive::leaderboard(archive, {.device = kind, .limit = 1})) {
    if (row.library || row.problem == problem.name || held_out.contains(row.problem)) continue;
    const std::optional<benchsuite::Problem> recorded = recorded_problem(archive, row.problem);
    if (!recorded || recorded->kind != problem.kind) continue;
    const prompting::ProblemText other = prompting::read_problem_text(*recorded);
    const Match match = match_of(asked, other, row);
    if (match.points() <= most || same_computation(asked.text, other)) continue;
    std::optional<Exemplar> exemplar = exemplar_of(archive, asked, *recorded, row);
    if (!exemplar) continue;
    exemplar->why = why(asked, other, match);
    chosen = std::move(exemplar);
    most = match.points();
  }
  return chosen;
}

Json to_json(const Exemplar& exemplar) {
  const prompting::KnownSolution& winner = exemplar.winner;
  Json json{{"problem", exemplar.problem}, {"title", exemplar.title},      {"device", exemplar.device},
            {"why", exemplar.why},         {"name", winner.name},          {"solution", winner.solution.hash()},
            {"tunables", winner.binding},  {"workload", exemplar.workload}};
  if (winner.speed_up) json["speed_up"] = {winner.speed_up->value, winner.speed_up->low, winner.speed_up->high};
  if (winner.time_us) json["time_us"] = *winner.time_us;
  if (winner.share_of_bound) json["share_of_bound"] = *winner.share_of_bound;
  return json;
}

Exemplar exemplar_from_json(const Json& json, const results::archive::Reader& archive) {
  const auto text = [&](const char* name) { return json.at(name).get<std::string>(); };
  Exemplar exemplar{text("problem"), text("title"), text("device"), {}, text("workload"), text("why")};
  prompting::KnownSolution& winner = exemplar.winner;
  winner.name = text("name");
  const auto found = archive.find_solutions(text("solution"));
  if (found.empty()) throw core::SystemError("the archive has lost the solution " + text("solution"));
  winner.solution = sandbox::parse_solution(found[0].source, winner.name);
  winner.binding = json.at("tunables").get<sandbox::TunableBinding>();
  if (json.contains("speed_up")) {
    const Json& of = json.at("speed_up");
    winner.speed_up = verifier::statistics::SpeedUp{of.at(0), of.at(1), of.at(2)};
  }
  if (json.contains("time_us")) winner.time_us = json.at("time_us").get<double>();
  if (json.contains("share_of_bound")) winner.share_of_bound = json.at("share_of_bound").get<double>();
  return exemplar;
}

}  // namespace agent::learning
