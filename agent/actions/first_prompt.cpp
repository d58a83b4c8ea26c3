#include "agent/actions/first_prompt.h"

#include <vector>

#include "agent/campaign/device_text.h"
#include "core/error.h"
#include "results/archive/leaderboard.h"

namespace agent::actions {
namespace {
// Solutions of the leaderboard for this problem and device, the best first.
std::vector<prompting::KnownSolution> known_solutions(const results::archive::Reader& archive,
                                                      const std::string& problem, const std::string& backend) {
  std::vector<prompting::KnownSolution> known;
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
    known.push_back(std::move(solution));
  }
  return known;
}
}  // namespace

prompting::MadePrompt first_prompt(const results::archive::Reader& archive, const campaign::DeviceSession& session,
                                   const std::string& kind, const benchsuite::Problem& problem, const PromptWish& wish,
                                   const std::filesystem::path& templates) {
  prompting::PromptFacts facts;
  facts.problem = prompting::read_problem_text(problem);
  facts.device = campaign::device_text(session, archive.newest_calibration(session.device()));
  facts.known = known_solutions(archive, problem.name, kind);
  facts.wanted = wish.wanted;
  const std::string task = !wish.task.empty() ? wish.task : facts.known.empty() ? "fresh" : "improve";
  facts.task = core::enum_from_name<prompting::Operator>(task).value();
  const size_t parents = facts.task == prompting::Operator::cross   ? 2
                         : facts.task == prompting::Operator::fresh ? 0
                                                                    : 1;
  if (facts.known.size() < parents) {
    throw core::InputError("prompt",
                           "\"" + task + "\" needs " + std::to_string(parents) + " known solution(s) of " +
                               problem.name + ", and the leaderboard has " + std::to_string(facts.known.size()),
                           "kernelwright run " + problem.name + " finds some");
  }
  const auto first = facts.known.begin();
  facts.parents.assign(first, first + static_cast<std::ptrdiff_t>(parents));
  facts.known.erase(first, first + static_cast<std::ptrdiff_t>(parents));
  return prompting::PromptMaker(templates).make(facts);
}

}  // namespace agent::actions
