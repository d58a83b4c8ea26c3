#include "agent/actions/first_prompt.h"

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

// Solutions of the leaderboard for this problem and device, the best first.
std::vector<Known> known_solutions(const results::archive::Reader& archive, const std::string& problem,
                                   const std::string& backend) {
  std::vector<Known> known;
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
    known.push_back({std::move(solution), row.attempt});
  }
  return known;
}

prompting::Diagnosis diagnosis_of(const results::archive::Reader& archive, const Known& known,
                                  const benchsuite::Problem& problem, const prompting::DeviceText& device) {
  const search::Attempt attempt = search::recorded_attempt(archive, known.attempt);
  return prompting::diagnose(
      search::facts_of(attempt, known.solution.solution, known.solution.binding, "naive", device), problem,
      device.backend);
}

}  // namespace

prompting::MadePrompt first_prompt(const results::archive::Reader& archive, const prompting::DeviceText& device,
                                   const std::string& kind, const benchsuite::Problem& problem, const PromptWish& wish,
                                   const std::filesystem::path& templates) {
  std::vector<Known> known = known_solutions(archive, problem.name, kind);
  prompting::PromptFacts facts;
  facts.problem = prompting::read_problem_text(problem);
  facts.device = device;
  facts.wanted = wish.wanted;
  const std::string task = !wish.task.empty() ? wish.task : known.empty() ? "fresh" : "improve";
  facts.task = core::enum_from_name<prompting::Operator>(task).value();
  const size_t parents = facts.task == prompting::Operator::cross   ? 2
                         : facts.task == prompting::Operator::fresh ? 0
                                                                    : 1;
  if (known.size() < parents) {
    throw core::InputError("prompt",
                           "\"" + task + "\" needs " + std::to_string(parents) + " known solution(s) of " +
                               problem.name + ", and the leaderboard has " + std::to_string(known.size()),
                           "kernelwright run " + problem.name + " finds some");
  }
  if (parents > 0) facts.diagnosis = diagnosis_of(archive, known[0], problem, device);
  if (parents > 1) facts.second_diagnosis = diagnosis_of(archive, known[1], problem, device);
  for (size_t i = 0; i < known.size(); ++i) {
    (i < parents ? facts.parents : facts.known).push_back(std::move(known[i].solution));
  }
  return prompting::PromptMaker(templates).make(facts, wish.limits);
}

}  // namespace agent::actions
