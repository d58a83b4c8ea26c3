// Shapes that no candidate has seen.
#pragma once

#include <cstdint>
#include <vector>

#include "benchsuite/problem.h"
#include "core/expr.h"
#include "verifier/keys.h"

namespace verifier {

// Up to `count` bindings of all axes, drawn from the axes' domains with a liking for what breaks kernels: 1, primes,
// one less and one more than a power of two. Each has at most `most_elements` elements per tensor and `most_flops`
// operations, and differs from every listed workload. Fewer where the domains allow fewer.
std::vector<core::Bindings> draw_unseen_shapes(const benchsuite::Problem& problem, int count, int64_t most_elements,
                                               int64_t most_flops, Keys& keys);

}  // namespace verifier
