// Shapes on both sides of what a source asks of several axes together.
#pragma once

#include <cstdint>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/draws/source/numbers.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {

struct ProductLimits {
  size_t most_shapes;
  int64_t most_elements, most_flops;
  int64_t most_elements_of_one, most_flops_of_one;  // of one shape, where no smaller one is beyond a number
};

// For each comparison of an expression of axes with a number, in any order, a shape at which it has just that number
// (`M * N % 4096 == 0`), or, up to twice as much, and then one at which it has less, more than half: unless another
// shape does. Other axes are short.
std::vector<core::Bindings> draw_shapes_of_products(const benchsuite::Problem& problem,
                                                    const source::SourceNumbers& numbers, const ProductLimits& limits,
                                                    statistics::Keys& keys);

}  // namespace verifier::draws
