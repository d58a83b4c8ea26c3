// Honest forms of a problem's naive solution, which the judge must accept.
#pragma once

#include <vector>

#include "benchsuite/problem.h"
#include "verifier/audit/variant.h"

namespace verifier::audit {

// Makes variants from its source and plan: reversed loops, sums in two halves, compensated sums, float variables kept
// in double, other block sizes. Changes only loops with independent iterations (loops.h), and block sizes only if the
// grid is ceil_div(.., block) and the source does not contain the number.
std::vector<Variant> reorderings(const sandbox::Solution& naive);

// A variant from a user's solution, with its required outcome.
Variant written_variant(const sandbox::Solution& solution, const std::string& name, Must must);

}  // namespace verifier::audit
