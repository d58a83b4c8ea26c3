// For tests: shipped problems and solutions as facts for prompts.
#pragma once

#include <map>
#include <string>

#include "agent/prompting/facts.h"
#include "benchsuite/catalogue.h"
#include "core/paths.h"
#include "core/text.h"

namespace agent::prompting::test {

inline const benchsuite::Problem& shipped_problem(const std::string& name) {
  static const auto problems = benchsuite::load_problems(core::installed_paths().problems());
  return problems.at(name);
}

inline sandbox::Solution shipped_solution(const std::string& file) {
  return sandbox::load_solution(core::installed_paths().kernels() / file);
}

inline KnownSolution known(const std::string& name, const std::string& file, double speed_up) {
  KnownSolution solution;
  solution.name = name;
  solution.solution = shipped_solution(file);
  solution.binding = sandbox::default_binding(solution.solution);
  solution.speed_up = verifier::statistics::SpeedUp{speed_up, speed_up * 0.98, speed_up * 1.02};
  solution.time_us = 134.1;
  return solution;
}

inline PromptFacts facts_for(const std::string& problem, const std::string& backend) {
  PromptFacts facts;
  facts.problem = read_problem_text(shipped_problem(problem));
  facts.device.backend = backend;
  facts.device.name = backend == "cpu" ? "a processor" : "NVIDIA H200";
  if (backend == "cuda") facts.device.architecture = "sm_90a";
  return facts;
}

}  // namespace agent::prompting::test
