// Parses the field "equivalents" of problem.json: library calls that compute the same.
#pragma once

#include "benchsuite/problem.h"
#include "core/strict_json.h"

namespace benchsuite {

// `problem` has its axes, tensors and contract. Throws core::InputError with the pointer of the field at fault.
Equivalents parse_equivalents(const core::JsonView& view, const Problem& problem);

}  // namespace benchsuite
