#include "results/exporting/choosing.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <tuple>

#include "core/error.h"
#include "core/text.h"
#include "results/archive/leaderboard.h"
#include "results/archive/problems.h"
#include "results/exporting/names.h"
#include "sandbox/naive_solution.h"

namespace results::exporting {
namespace {
using core::InputError;

bool is_attempt_number(const std::string& what) {
  return !what.empty() && what.size() < 12 &&
         std::all_of(what.begin(), what.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_of_device(const std::string& device, const std::string& wanted) {
  return wanted.empty() || device == wanted || device.rfind(wanted + " ", 0) == 0;
}

ExportedKernel kernel_of(archive::RecordedAttempt attempt) {
  ExportedKernel kernel;
  kernel.solution = sandbox::parse_solution(attempt.source, attempt.solution + ".cu");
  kernel.binding = attempt.binding;
  kernel.architecture = attempt.environment.value("architecture", "");
  const std::string hash = kernel.solution.hash();
  kernel.id = identifier_of(attempt.solution) + "_" + hash.substr(0, 8);
  for (const auto& [name, value] : kernel.binding) kernel.id += "_" + std::to_string(value);
  kernel.id = identifier_of(kernel.id);
  kernel.attempt = std::move(attempt);
  return kernel;
}

bool supports(const ExportedKernel& kernel, const std::string& backend) {
  const std::vector<std::string>& backends = kernel.solution.backends;
  return backends.empty() || std::find(backends.begin(), backends.end(), backend) != backends.end();
}

void require_exportable(const ExportedKernel& kernel, const ExportChoice& choice) {
  const std::string where = "attempt " + std::to_string(kernel.attempt.id);
  if (!verifier::verdicts::is_correct(kernel.attempt.verdict)) {
    throw InputError(where, "was refused (" + name_of(kernel.attempt.verdict) + "): it is not exported",
                     "export another one; kernelwright leaderboard lists them");
  }
  if (kernel.solution.launches[0].kernel == sandbox::kPytorchKernel) {
    throw InputError(where, "is forward() of reference.py in PyTorch, not a kernel",
                     "export another one; kernelwright leaderboard lists them");
  }
  if (!kernel.confirmed() && !choice.unconfirmed) {
    throw InputError(where, "is not a confirmed win over naive",
                     "judge it with kernelwright judge FILE --confirm, or export it unchanged with --unconfirmed");
  }
  if (!supports(kernel, choice.backend)) {
    throw InputError(where,
                     "the solution " + kernel.attempt.solution + " does not list the backend " + choice.backend +
                         ", only on " + core::join(kernel.solution.backends, ", "),
                     choice.backend == "hip" ? "port it: the runtime, warps of 64 lanes and headers differ there" : "");
  }
}

double lower_end(const ExportedKernel& kernel, const std::string& workload) {
  if (!kernel.attempt.measurement) return 0;
  for (const verifier::verdicts::WorkloadTiming& timing : kernel.attempt.measurement->workloads) {
    if (timing.workload == workload) return timing.speed_up.low;
  }
  return 0;
}

std::optional<ExportedKernel> best_of_solution(const archive::Reader& archive, const archive::SolutionRecord& solution,
                                               const ExportChoice& choice) {
  std::optional<ExportedKernel> best;
  for (const int64_t id : archive.attempts_of_solution(solution.id)) {
    archive::RecordedAttempt attempt = archive.attempt(id);
    if (!verifier::verdicts::is_correct(attempt.verdict) || !is_of_device(attempt.device, choice.device)) continue;
    if (attempt.effort == "screen" || attempt.effort == "control") continue;
    ExportedKernel kernel = kernel_of(std::move(attempt));
    const auto worth = [](const ExportedKernel& one) {
      const double low = one.attempt.measurement ? one.attempt.measurement->speed_up.low : 0;
      return std::tuple(one.confirmed(), one.measured_on_gpu(), low);
    };
    if (!best || worth(kernel) > worth(*best)) best = std::move(kernel);
  }
  return best;
}

ExportedKernel find_kernel(const archive::Reader& archive, const std::string& what, const ExportChoice& choice) {
  if (is_attempt_number(what)) return kernel_of(archive.attempt(std::stoll(what)));
  const std::vector<archive::SolutionRecord> solutions = archive.find_solutions(what);
  if (solutions.empty()) {
    throw InputError(what, "is not a problem, attempt or solution in this archive",
                     "kernelwright leaderboard lists results with their attempt numbers");
  }
  std::optional<ExportedKernel> best;
  for (const archive::SolutionRecord& solution : solutions) {
    auto one = best_of_solution(archive, solution, choice);
    if (!one) continue;
    if (best && best->attempt.problem != one->attempt.problem) {
      throw InputError(what,
                       "names solutions of several problems, " + best->attempt.problem + " and " + one->attempt.problem,
                       "name one as NAME@PROBLEM, by its hash, or by the number of an attempt");
    }
    if (!best || (one->confirmed() && !best->confirmed())) best = std::move(one);
  }
  if (!best) throw InputError(what, "has no correct attempt yet", "judge it with kernelwright judge FILE --confirm");
  return *best;
}

void add_kernel(Package& package, ExportedKernel kernel) {
  const bool known = std::any_of(package.kernels.begin(), package.kernels.end(),
                                 [&](const ExportedKernel& one) { return one.attempt.id == kernel.attempt.id; });
  if (known) return;
  // A candidate measured on two devices has two entries in the archive, but becomes one kernel in code.
  package.kernels.push_back(std::move(kernel));
}

std::string not_for(const std::string& backend, const std::map<int64_t, ExportedKernel>& winners) {
  std::set<std::string> texts;
  for (const auto& [attempt, kernel] : winners) {
    texts.insert(kernel.attempt.solution + " (" + core::join(kernel.solution.backends, ", ") + ")");
  }
  return "none of its confirmed solutions names " + backend +
         " among its \"backends\": " + core::join({texts.begin(), texts.end()}, ", ");
}

// For each device and workload, the fastest kernel that supports the backend.
std::vector<ExportedKernel> winners_of(const archive::Reader& archive, const std::string& problem,
                                       const ExportChoice& choice) {
  std::vector<ExportedKernel> found;
  std::map<int64_t, ExportedKernel> read;
  std::set<std::pair<std::string, std::string>> settled;
  for (const archive::Winner& winner : archive.winners(problem)) {
    if (!is_of_device(winner.device, choice.device) || settled.count({winner.device, winner.workload}) > 0) continue;
    auto at = read.find(winner.attempt);
    if (at == read.end()) at = read.emplace(winner.attempt, kernel_of(archive.attempt(winner.attempt))).first;
    if (!supports(at->second, choice.backend)) continue;
    settled.insert({winner.device, winner.workload});
    found.push_back(at->second);
  }
  if (found.empty() && !read.empty()) {
    throw InputError(
        problem, not_for(choice.backend, read),
        "export another format, or port one of them: add \"" + choice.backend + "\" to its \"backends\" and judge it");
  }
  const auto on_gpu = [](const ExportedKernel& kernel) { return kernel.measured_on_gpu(); };
  if (std::any_of(found.begin(), found.end(), on_gpu)) {
    std::erase_if(found, [&](const ExportedKernel& kernel) { return !on_gpu(kernel); });
  }
  if (found.empty()) {
    throw InputError(problem,
                     "no confirmed solution for " + choice.backend +
                         (choice.device.empty() ? "" : " measured on " + choice.device) + " is in this archive",
                     "search for one with kernelwright run " + problem + ", or name attempts and solutions yourself");
  }
  return found;
}

// The problem as the kernels were judged: from the archive, or from `problems` if the archive kept no files.
std::shared_ptr<const benchsuite::Problem> problem_of(const archive::Reader& archive,
                                                      const std::map<std::string, benchsuite::Problem>& problems,
                                                      const std::vector<ExportedKernel>& kernels) {
  const archive::ProblemVersion version = archive::problem_of_attempt(archive, kernels[0].attempt.id);
  for (const ExportedKernel& kernel : kernels) {
    if (archive::problem_of_attempt(archive, kernel.attempt.id).hash == version.hash) continue;
    throw InputError("attempt " + std::to_string(kernel.attempt.id),
                     "was judged by a different version of the problem " + version.name + " than attempt " +
                         std::to_string(kernels[0].attempt.id),
                     "judge it again with kernelwright judge FILE --confirm, or export each for itself");
  }
  if (auto kept = version.problem()) return std::make_shared<const benchsuite::Problem>(std::move(*kept));
  const auto found = problems.find(version.name);
  if (found != problems.end() && benchsuite::content_hash(found->second) == version.hash) {
    return std::make_shared<const benchsuite::Problem>(found->second);
  }
  throw InputError("attempt " + std::to_string(kernels[0].attempt.id),
                   "was judged by files of the problem " + version.name +
                       " that are neither in this archive, which an earlier version wrote, nor among the problems here",
                   "judge it again with kernelwright judge FILE --confirm");
}

// Import's remarks, if the folder that it made is here and unchanged. An archive keeps no import.json.
std::vector<std::string> remarks_of(const std::map<std::string, benchsuite::Problem>& problems,
                                    const benchsuite::Problem& problem) {
  const auto here = problems.find(problem.name);
  if (here == problems.end() || benchsuite::content_hash(here->second) != benchsuite::content_hash(problem)) return {};
  const std::filesystem::path report = here->second.folder / "import.json";
  if (here->second.folder.empty() || !std::filesystem::exists(report)) return {};
  const core::Json json = core::parse_json(core::read_file(report), report.string());
  std::vector<std::string> remarks;
  for (const core::JsonView& remark : core::JsonView(json, report.string()).at("remarks").items()) {
    remarks.push_back(remark.string());
  }
  return remarks;
}

// For each device and bench workload, the fastest kernel.
std::vector<Route> routes_of(const Package& package, const ExportChoice& choice) {
  std::vector<Route> routes;
  const auto better = [&](const Route& route, size_t other) {
    return lower_end(package.kernels[other], route.workload) > lower_end(package.kernels[route.kernel], route.workload);
  };
  for (size_t k = 0; k < package.kernels.size(); ++k) {
    const ExportedKernel& kernel = package.kernels[k];
    for (const benchsuite::Workload& workload : package.problem->workloads) {
      if (lower_end(kernel, workload.name) <= 0) continue;
      std::vector<std::pair<std::string, bool>> where{{kernel.architecture, true}};
      for (const std::string& asked : choice.architectures) {
        const bool runs =
            capability_of(asked) >= capability_of(kernel.solution.arch) &&
            (kernel.solution.arch.empty() || kernel.solution.arch.back() != 'a' || asked == kernel.solution.arch);
        if (runs && capability_of(asked) != capability_of(kernel.architecture)) where.emplace_back(asked, false);
      }
      for (const auto& [architecture, measured] : where) {
        const auto same = std::find_if(routes.begin(), routes.end(), [&, &at = architecture](const Route& route) {
          return route.workload == workload.name && capability_of(route.architecture) == capability_of(at);
        });
        if (same == routes.end()) {
          routes.push_back({k, architecture, workload.axes, workload.name, measured});
        } else if (better(*same, k)) {
          *same = {k, architecture, workload.axes, workload.name, measured};
        }
      }
    }
  }
  return routes;
}

// Drops kernels that no shape selects.
void keep_what_is_used(Package& package) {
  std::vector<ExportedKernel> kept;
  std::map<size_t, size_t> place;
  for (Route& route : package.routes) {
    const auto [found, fresh] = place.emplace(route.kernel, kept.size());
    if (fresh) kept.push_back(std::move(package.kernels[route.kernel]));
    route.kernel = found->second;
  }
  package.kernels = std::move(kept);
}

// Two attempts at one candidate become one kernel in code.
void make_ids_unique(Package& package) {
  std::map<std::string, int> seen;
  for (ExportedKernel& kernel : package.kernels) {
    const int count = ++seen[kernel.id];
    if (count > 1) kernel.id += "_again" + std::to_string(count);
  }
}
}  // namespace

Package choose_kernels(const archive::Reader& archive, const std::map<std::string, benchsuite::Problem>& problems,
                       const ExportChoice& choice) {
  Package package;
  const std::vector<std::string> judged = archive::known_problems(archive);
  for (const std::string& what : choice.what) {
    std::vector<ExportedKernel> found;
    if (std::find(judged.begin(), judged.end(), what) != judged.end() || problems.count(what) > 0) {
      found = winners_of(archive, what, choice);
    } else {
      found.push_back(find_kernel(archive, what, choice));
    }
    for (ExportedKernel& kernel : found) {
      require_exportable(kernel, choice);
      if (!package.kernels.empty() && package.kernels[0].attempt.problem != kernel.attempt.problem) {
        throw InputError(
            what,
            "is for " + kernel.attempt.problem + ", what comes before it for " + package.kernels[0].attempt.problem,
            "export each problem into a folder of its own");
      }
      add_kernel(package, std::move(kernel));
    }
  }
  if (package.kernels.empty()) throw InputError("export", "nothing was named", "name a problem, attempts or solutions");
  package.problem = problem_of(archive, problems, package.kernels);
  package.name = choice.name.empty() ? package.problem->name : choice.name;
  if (identifier_of(package.name) != package.name || safe_name(package.name) != package.name) {
    throw InputError("--name " + package.name, "cannot be the name of a package", "letters, digits and _");
  }
  for (const ExportedKernel& kernel : package.kernels) sandbox::validate_solution(kernel.solution, *package.problem);
  package.routes = routes_of(package, choice);
  if (package.routes.empty()) {
    throw InputError(choice.what[0], "was not timed at any bench workload",
                     "judge it with kernelwright judge FILE --confirm");
  }
  keep_what_is_used(package);
  make_ids_unique(package);
  if (package.problem->pytorch()) {
    package.remarks = remarks_of(problems, *package.problem);
  } else {
    package.own = {sandbox::own_solution(*package.problem, benchsuite::kNaiveFile),
                   sandbox::own_solution(*package.problem, benchsuite::kReferenceFile)};
  }
  return package;
}

}  // namespace results::exporting
