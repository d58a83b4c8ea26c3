// For tests: an archive with confirmed winners of shipped problems.
#pragma once

#include <optional>
#include <string>

#include "agent/prompting/prompting_fixture.h"
#include "results/archive/archive_fixture.h"

namespace agent::learning::test {

class Winners {
 public:
  results::archive::Recorder& archive() { return archive_; }
  std::filesystem::path file() const { return temporary_.file(); }

  // Adds a confirmed win over naive of a shipped solution, "softmax_f32/lanes_per_row.cu".
  void add(const std::string& file, const std::string& device, double speed_up,
           std::optional<int64_t> campaign = std::nullopt) {
    const std::string name = file.substr(0, file.find('/'));
    const benchsuite::Problem& problem = prompting::test::shipped_problem(name);
    const sandbox::Solution naive = sandbox::own_solution(problem, benchsuite::kNaiveFile);
    const sandbox::Solution solution = prompting::test::shipped_solution(file);
    results::archive::NewAttempt attempt;
    attempt.campaign = campaign;
    attempt.problem = archive_.add_problem(problem, benchsuite::content_hash(problem));
    attempt.environment = environment_;
    attempt.candidate = archive_.add_candidate(
        archive_.add_solution({&solution, std::filesystem::path(file).stem().string(), "seed", {}}),
        sandbox::default_binding(solution));
    attempt.against = archive_.add_candidate(archive_.add_solution({&naive, "naive", "naive", {}}), {});
    attempt.device = device;
    attempt.effort = verifier::verdicts::Effort::confirm;
    attempt.judgement = results::archive::test::correct_judgement(speed_up);
    attempt.judgement.measurement->workloads[0].bound_us = 20;
    archive_.add_attempt(attempt);
  }

 private:
  const results::archive::test::TemporaryArchive temporary_;
  results::archive::Recorder archive_{temporary_.file()};
  int64_t environment_ = archive_.add_environment({{"host", "test"}});
};

}  // namespace agent::learning::test
