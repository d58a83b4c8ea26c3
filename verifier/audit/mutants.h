// Mutants of a problem's naive solution, which the judge must refuse.
#pragma once

#include <vector>

#include "benchsuite/problem.h"
#include "verifier/audit/variant.h"

namespace verifier::audit {

// Naive between copies (damage.h): each spoils an input before naive reads it or an output after naive wrote it. They
// are made from the problem's tensors alone, whatever the source does, and all have one body. The first one is the
// control: it damages nothing and must be accepted. What the contract allows (TF32) is not among them. Throws
// core::InputError for a naive solution with tensor maps, which cannot be sent to a copy.
std::vector<Variant> harness_mutants(const benchsuite::Problem& problem, const sandbox::Solution& naive);

// Changes of the source: arithmetic in fewer bits, the last turn of a loop left out, a constant doubled. Each has a
// body of its own, which may not compile where the source is unusual.
std::vector<Variant> source_mutants(const benchsuite::Problem& problem, const sandbox::Solution& naive);

}  // namespace verifier::audit
