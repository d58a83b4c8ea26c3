// What sort of computation a problem is: the words by which problems and technique cards find each other.
#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "benchsuite/problem.h"

namespace agent::prompting {

enum class ProblemKind {
  elementwise,  // each output element of the input elements at its place
  rowwise,      // each row of the output of its row of the input
  reduction,    // outputs far smaller than inputs
  transpose,    // elements move
  gemm,         // sums of products along an axis that two inputs share
  histogram,    // counts of integers
  scan,         // running sums
  attention,
  transcendental,  // besides: exponentials, logarithms and their like of elements
  narrow,          // besides: inputs in floats of 16 bits or integers of 8
};
std::string_view name_of(ProblemKind kind);
std::optional<ProblemKind> problem_kind_from_name(std::string_view name);
const std::vector<ProblemKind>& all_problem_kinds();

// By the shapes of its tensors and the words of its description; one problem may be of several kinds, and of none.
std::set<ProblemKind> kinds_of(const benchsuite::Problem& problem);

}  // namespace agent::prompting
