// The audit of inputs() in reference.py.
#pragma once

#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/reference/reference_channel.h"

namespace verifier::audit {

// Returns the faults of inputs(), a sentence each: the same key must give the same inputs, and other keys others, at
// the workloads of a backend and at shapes between them. Throws core::InputError where it gives no inputs.
std::vector<std::string> check_inputs(const benchsuite::Problem& problem, const std::string& backend,
                                      reference::ReferenceChannel& drawer);

}  // namespace verifier::audit
