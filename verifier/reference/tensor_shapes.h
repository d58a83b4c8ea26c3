// Axes and tensors of one shape as messages: what a library needs to know of it; candidates have a plan.
#pragma once

#include <string>

#include "benchsuite/problem.h"
#include "core/strict_json.h"

namespace verifier::reference {

// {"axes": {...}, "nan": bool, "scalars": {...}, "tensors": {name: {"role", "dtype", "shape"}}}; an input of whole
// numbers also has its bounds, "least" and "most", and a given one "given": true.
core::Json shapes_json(const benchsuite::Problem& problem, const core::Bindings& axes);

// "workload small (B=4)", or "B=4" of a shape that is not listed.
std::string shape_name(const benchsuite::Problem& problem, const core::Bindings& axes);

}  // namespace verifier::reference
