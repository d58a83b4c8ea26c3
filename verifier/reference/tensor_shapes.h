// Axes and tensors of one shape as messages: what a library needs to know of it; candidates have a plan.
#pragma once

#include "benchsuite/problem.h"
#include "core/strict_json.h"

namespace verifier::reference {

// {"axes": {...}, "tensors": {name: {"role", "dtype", "shape"}}}; an input of whole numbers also has its bounds,
// "least" and "most".
core::Json shapes_json(const benchsuite::Problem& problem, const core::Bindings& axes);

}  // namespace verifier::reference
