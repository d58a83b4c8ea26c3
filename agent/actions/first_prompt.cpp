#include "agent/actions/first_prompt.h"

#include <set>
#include <string>
#include <utility>

#include "agent/learning/card_choice.h"
#include "agent/learning/lessons.h"
#include "agent/search/attempt_runner.h"
#include "core/error.h"
#include "core/text.h"
#include "results/archive/leaderboard.h"

namespace agent::actions {
namespace {
struct Known {
  prompting::KnownSolution solution;
  int64_t attempt = 0;
};

Known known_solution(const results::archive::RecordedAttempt& attempt, size_t number) {
  prompting::KnownSolution solution;
  solution.name = "s" + std::to_string(number);
  solution.solution = sandbox::parse_solution(attempt.source, attempt.solution);
  solution.binding = attempt.binding;
  solution.registers = attempt.registers;
  solution.shared_bytes = attempt.shared_bytes;
  solution.spill_bytes = attempt.spill_bytes;
  if (attempt.measurement && attempt.against == "naive") {
    solution.speed_up = attempt.measurement->speed_up;
    if (!attempt.measurement->workloads.empty()) {
      solution.time_us = attempt.measurement->workloads.front().candidate_us;
      solution.share_of_bound = attempt.measurement->workloads.front().share_of_bound();
    }
  }
  return {std::move(solution), attempt.id};
}

// Solutions of the leaderboard for this problem and device, the best first; where it has none, those that were right
// and won nothing.
std::vector<Known> known_solutions(const results::archive::Reader& archive, const std::string& problem,
                                   const std::string& backend) {
  std::vector<Known> known;
  for (const results::archive::LeaderboardRow& row : results::archive::leaderboard(archive, {problem, backend})) {
    if (!row.library) known.push_back(known_solution(archive.attempt(row.attempt), known.size() + 1));
  }
  if (!known.empty()) return known;
  std::set<std::string> sources;
  for (const int64_t id : archive.judgements(problem, backend, results::archive::Reader::Found::correct)) {
    const results::archive::RecordedAttempt attempt = archive.attempt(id);
    if (sources.insert(attempt.source).second) known.push_back(known_solution(attempt, known.size() + 1));
  }
  return known;
}

// The latest solution that failed.
std::vector<Known> failed_solution(const results::archive::Reader& archive, const std::string& problem,
                                   const std::string& backend) {
  const std::vector<int64_t> failed = archive.judgements(problem, backend, results::archive::Reader::Found::refused);
  if (failed.empty()) return {};
  return {known_solution(archive.attempt(failed.front()), 1)};
}

prompting::Diagnosis diagnosis_of(const results::archive::Reader& archive, const Known& known,
                                  const benchsuite::Problem& problem, const prompting::DeviceText& device) {
  search::Attempt attempt = search::recorded_attempt(archive, known.attempt);
  if (attempt.measurement) attempt.measurement->counters = archive.counters_of(known.attempt);
  return prompting::diagnose(
      search::facts_of(attempt, known.solution.solution, known.solution.binding, "naive", device), problem,
      device.backend);
}

}  // namespace

prompting::MadePrompt first_prompt(const results::archive::Reader& archive, const prompting::DeviceText& device,
                                   const std::string& kind, const benchsuite::Problem& problem, const PromptWish& wish,
                                   const std::filesystem::path& templates) {
  const bool repairs = wish.task == name_of(prompting::Operator::repair);
  std::vector<Known> known =
      repairs ? failed_solution(archive, problem.name, kind) : known_solutions(archive, problem.name, kind);
  prompting::PromptFacts facts;
  facts.problem = prompting::read_problem_text(problem);
  facts.device = device;
  facts.wanted = wish.wanted;
  const std::string task = !wish.task.empty() ? wish.task : known.empty() ? "fresh" : "improve";
  facts.task = core::enum_from_name<prompting::Operator>(task).value();
  const size_t parents = facts.task == prompting::Operator::cross   ? 2
                         : facts.task == prompting::Operator::fresh ? 0
                                                                    : 1;
  if (repairs && known.empty()) {
    throw core::InputError(
        "prompt",
        "\"repair\" needs a solution of " + problem.name + " that failed, and the archive has none for this device",
        "kernelwright run " + problem.name + " tries some");
  }
  if (known.size() < parents) {
    throw core::InputError("prompt",
                           "\"" + task + "\" needs " + std::to_string(parents) + " known solution(s) of " +
                               problem.name + ", and the archive has " + std::to_string(known.size()),
                           "kernelwright run " + problem.name + " finds some");
  }
  if (parents > 0) facts.diagnosis = diagnosis_of(archive, known[0], problem, device);
  if (parents > 1) facts.second_diagnosis = diagnosis_of(archive, known[1], problem, device);
  for (size_t i = 0; i < known.size(); ++i) {
    (i < parents ? facts.parents : facts.known).push_back(std::move(known[i].solution));
  }
  const prompting::PromptMaker maker(templates);
  const learning::Lessons lessons =
      wish.learns ? learning::lessons_for(archive, problem, device, kind) : learning::Lessons();
  facts.exemplar = lessons.exemplar;
  facts.card_worths = learning::CardChoice(lessons.cards).worths(maker.cards());
  return maker.make(facts, wish.limits);
}

}  // namespace agent::actions
