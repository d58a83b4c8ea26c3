// A solution executed on the cpu device, whatever it is for.
#pragma once

#include <string>

#include "benchsuite/problem.h"
#include "core/paths.h"
#include "sandbox/solution.h"
#include "verifier/verdicts/verdict.h"

namespace agent::actions {

// Looks at it as a confirmation does (agent/campaign/judges/host_check.h), with workers of its own, for two minutes at
// most. Throws core::InputError at `where` with what is wrong on any device; else says whether it could look.
verifier::verdicts::HostCheck execute_on_cpu(const core::Paths& paths, const benchsuite::Problem& problem,
                                             const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                                             const std::string& where);

// "It was executed on the cpu device: ...", or why that shows nothing.
std::string execution_words(const verifier::verdicts::HostCheck& execution);

}  // namespace agent::actions
