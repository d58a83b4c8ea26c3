// A problem whose expected output is another one's naive output, bit by bit: accepted solutions are equivalent to
// naive.
#pragma once

#include <filesystem>

#include "benchsuite/problem.h"

namespace verifier::audit {

// Owns a temporary folder with the problem's files. Outputs are bytes; inputs, shapes and workloads are the other
// problem's, and its naive solution is the reference.
class BitwiseProblem {
 public:
  explicit BitwiseProblem(const benchsuite::Problem& problem);  // throws core::SystemError
  ~BitwiseProblem();
  BitwiseProblem(const BitwiseProblem&) = delete;
  BitwiseProblem& operator=(const BitwiseProblem&) = delete;

  const benchsuite::Problem& problem() const { return problem_; }

 private:
  std::filesystem::path folder_;
  benchsuite::Problem problem_;
};

}  // namespace verifier::audit
