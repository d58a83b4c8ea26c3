// Mutants of a problem's naive solution, which the judge must refuse.
#pragma once

#include <vector>

#include "benchsuite/problem.h"
#include "verifier/audit/variant.h"

namespace verifier::audit {

// Naive with copies before and after it (damage.h) that damage an input or an output. They depend on the problem's
// tensors alone, not on the source, and share one body. The first one is the control: it damages nothing and must be
// accepted. Damage that the contract allows (TF32) is left out. Throws core::InputError for a naive solution with
// tensor maps, which cannot refer to a copy.
std::vector<Variant> harness_mutants(const benchsuite::Problem& problem, const sandbox::Solution& naive);

// The finest precision, in bits of significand, whose loss an output shows: rounding to 8 bits hides the others.
int finest_bits_shown(const benchsuite::Problem& problem);

// Changes of the source: arithmetic in fewer bits, a loop without its last iteration, a doubled constant. Each has its
// own body, which may not compile if the source is unusual.
std::vector<Variant> source_mutants(const benchsuite::Problem& problem, const sandbox::Solution& naive);

}  // namespace verifier::audit
