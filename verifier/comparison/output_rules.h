// Outputs that a problem does not compare element by element: benchsuite::OutputRule. On the host, on every device.
#pragma once

#include <cstddef>
#include <span>
#include <variant>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/comparison/compare.h"

namespace verifier::comparison {

using Contents = std::vector<std::span<const std::byte>>;  // one per tensor, in the problem's order

// Whether the rule needs compare_by_rule(); the others differ only in how exact they are.
bool has_own_comparison(const benchsuite::Tensor& output);

struct RuledOutput {
  const benchsuite::Problem& problem;
  const core::Bindings& axes;
  size_t index;                      // of the output
  Contents inputs, outputs;          // of the candidate
  NaiveRun expected;                 // of this output, for the same inputs
  std::vector<NaiveRun> neighbours;  // for inputs close by
};

// `exact`: bit for bit, where the rule leaves that open.
std::variant<Match, verdicts::Verdict> compare_by_rule(const OutputForm& form, bool exact, const RuledOutput& ruled);

}  // namespace verifier::comparison
