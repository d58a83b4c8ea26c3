// Checks that involve several fields of a problem, such as the values of expressions at each workload and at the ends
// of the axis domains.
#pragma once

#include "benchsuite/problem.h"
#include "core/strict_json.h"

namespace benchsuite {

// `json` is the root of problem.json, already parsed into `problem`. All throw core::InputError with the pointer
// of the field at fault.

// No axis, input or output shares its name with another.
void check_names_are_distinct(const Problem& problem, const core::JsonView& json);
// Outputs that are compared as indices lead into an input of fitting shape, and to an output of the values there.
void check_comparisons(const Problem& problem, const core::JsonView& json);
// Each workload binds every axis within its domain and nothing else; each backend has a test and a bench workload.
void check_workloads(const Problem& problem, const core::JsonView& json);
// Shapes, bounds of integer inputs and cost evaluate without overflow to sensible values.
void check_expressions(const Problem& problem, const core::JsonView& json);

}  // namespace benchsuite
