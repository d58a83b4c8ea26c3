// Outputs that a problem does not compare element by element: benchsuite::OutputRule. On the host, on every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/comparison/compare.h"

namespace verifier::comparison {

using Contents = std::vector<std::span<const std::byte>>;  // one per tensor, in the problem's order

// Whether the rule needs compare_by_rule(); the others differ only in how exact they are.
bool has_own_comparison(const benchsuite::Tensor& output);

// The elements of an input at `places`, in that order, as they lie in memory. Zero where a place is below 0.
using Gather = std::function<std::vector<std::byte>(size_t input, const std::vector<int64_t>& places)>;
std::vector<std::byte> gathered(std::span<const std::byte> content, size_t element_bytes,
                                const std::vector<int64_t>& places);

struct RuledOutput {
  const benchsuite::Problem& problem;
  const core::Bindings& axes;
  size_t index;                      // of the output
  Gather gather;                     // from the candidate's inputs, which may be too large for the host
  Contents outputs;                  // of the candidate; the output and what its rule names, others may be empty
  NaiveRun expected;                 // of this output, for the same inputs
  std::vector<NaiveRun> neighbours;  // for inputs close by
};

// How far whole numbers are from the reference's unrounded ones.
struct Quanta {
  double beyond = 0;  // the largest distance, less the half that rounding to the nearest explains
  double peak = 0;    // the largest |unrounded number|
};
// `reference`: double.
Quanta quanta_between(core::DType dtype, std::span<const std::byte> output, std::span<const std::byte> reference);
// Whether an output of rounded numbers passes by these figures of it. nullopt: its elements decide (compare_by_rule).
std::optional<Match> pass_as_quanta(const OutputForm& form, const Quanta& output);

// `exact`: bit for bit, where the rule leaves that open.
std::variant<Match, verdicts::Verdict> compare_by_rule(const OutputForm& form, bool exact, const RuledOutput& ruled);

}  // namespace verifier::comparison
