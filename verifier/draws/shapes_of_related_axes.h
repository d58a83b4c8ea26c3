// Shapes in which two axes have to do with each other.
#pragma once

#include <cstdint>
#include <vector>

#include "benchsuite/problem.h"
#include "core/expr.h"
#include "verifier/draws/source/numbers.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {

// In half of them two axes are one number, from 129 to 1536 or as the source asks of either; in the others, one is a
// small multiple of the other, or their sum or both of them are a power of two. The rest is short: a path for such
// shapes may forget its own tails. The axes take turns, those that lie side by side in a tensor more often.
std::vector<core::Bindings> draw_shapes_of_related_axes(const benchsuite::Problem& problem,
                                                        const source::SourceNumbers& numbers, size_t most_shapes,
                                                        int64_t most_elements, int64_t most_flops,
                                                        statistics::Keys& keys);

}  // namespace verifier::draws
