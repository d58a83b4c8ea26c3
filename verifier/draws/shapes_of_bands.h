// Shapes at which an order of blocks that goes by bands has a last band that is not whole.
#pragma once

#include <cstdint>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/draws/reach.h"
#include "verifier/draws/source/numbers.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {

struct BandLimits {
  int64_t most_elements, most_flops;
  int64_t most_elements_of_large, most_flops_of_large;  // of two shapes whose sides no smaller ones reach
};

// Where a source seems to number blocks anew: for each two sides of a grid a shape with few blocks along one, and along
// the other an odd number just above the largest number up to 1024 that the source names, as far as the limits allow:
// bands of that many blocks, and smaller ones, end with one that is not whole. A side is a dimension of a launch's
// grid, or an axis where all make one dimension longer. At most eight shapes.
std::vector<core::Bindings> draw_shapes_of_bands(const Plan& plan, const benchsuite::Problem& problem,
                                                 const source::SourceNumbers& numbers, const BandLimits& limits,
                                                 statistics::Keys& keys);

}  // namespace verifier::draws
