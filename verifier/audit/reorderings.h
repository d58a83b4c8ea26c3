// Honest forms of a problem's naive solution, which the judge must accept.
#pragma once

#include <vector>

#include "benchsuite/problem.h"
#include "verifier/audit/variant.h"

namespace verifier::audit {

// What can be made of its source and plan: loops taken backwards, sums in two halves, compensated sums, float variables
// kept in double, other block sizes. Loops are changed only where their turns can be seen to be independent (loops.h),
// block sizes only where the grid is ceil_div(.., block) and the source does not name the number.
std::vector<Variant> reorderings(const sandbox::Solution& naive);

// Solutions that somebody wrote: they must be accepted, or refused.
Variant written_variant(const sandbox::Solution& solution, const std::string& name, Must must);

}  // namespace verifier::audit
