// The judge as the agent sees it: a device's run and judge workers, and what it takes to judge one candidate with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/compile_pool.h"
#include "sandbox/solution.h"
#include "sandbox/worker.h"
#include "verifier/builds.h"
#include "verifier/judgement.h"

namespace verifier {

struct JudgeSettings {
  CheckSettings check;
  TimingSettings timing;
  double deadline_s = 120;  // for one whole judgement; past it the judge itself is replaced
};

// Owns the run and the judge worker of one device. Not for use by two threads at once.
class Judge {
 public:
  Judge(sandbox::WorkerCommand worker, JudgeSettings settings);

  // Compiles the problem's reference and naive solution and hands them to the judge worker. Throws core::InputError
  // when either does not compile: such a problem cannot be used.
  void use_problem(const benchsuite::Problem& problem, sandbox::CompilePool& pool);

  // Judges against the incumbent, each in cells of its own. Both are built for this effort. Throws core::SystemError
  // for our own failures.
  Judgement judge(const Builds& candidate, const Builds& incumbent, Effort effort);

  // The naive solution of the current problem: the first incumbent, and what scores are relative to.
  const Builds& naive() const;

  // "sandbox_level", "sandbox": how the run worker is locked.
  const core::Json& run_greeting() const { return run_->greeting(); }

 private:
  struct Cell {
    int pid;
    core::UniqueFd judge_end;
  };

  void start_workers();
  void teach_problem();
  Cell open_cell(const sandbox::Built& built, sandbox::Build build);
  core::Json close_cell(const Cell& cell);
  Judgement judge_in_cells(const Builds& candidate, const Builds& incumbent, Effort effort,
                           const std::vector<Cell>& cells);

  sandbox::WorkerCommand command_;
  JudgeSettings settings_;
  std::optional<sandbox::Worker> run_, judge_;

  std::optional<benchsuite::Problem> problem_;
  sandbox::Solution reference_, naive_;
  std::optional<Builds> reference_builds_, naive_builds_;
};

}  // namespace verifier
