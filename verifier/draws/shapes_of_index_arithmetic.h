// Small shapes at which everyday slips in index arithmetic show: narrow products, short reciprocals, rounded sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/draws/source/numbers.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {

// For each pair of axes two shapes in which their product passes 2^16 by up to a quarter, both odd and both multiples
// of 8, while the others are thin: a kernel may keep a place in a plane or the number of a row in 16 bits.
std::vector<core::Bindings> draw_shapes_of_pairs(const benchsuite::Problem& problem, int64_t most_elements,
                                                 int64_t most_flops, statistics::Keys& keys);

// Shapes of several rows in which an axis, or the product of two that follow each other, is n tiles long, where n times
// 1.0f / n is less than 1 in float: places that are divided so come one tile too early. A tile has 1, 4 or 8 elements,
// or a size that the source names. More shapes where the source seems to multiply by reciprocals.
std::vector<core::Bindings> draw_shapes_of_quotients(const benchsuite::Problem& problem,
                                                     const source::SourceNumbers& numbers, int64_t most_elements,
                                                     int64_t most_flops, statistics::Keys& keys);

// For each axis a thin shape in which it is little longer than a large power of two, or, beyond 2^24, one longer than a
// multiple of a number that the source names: float arithmetic on sizes rounds there.
std::vector<core::Bindings> draw_shapes_of_rounded_sizes(const benchsuite::Problem& problem,
                                                         const source::SourceNumbers& numbers, int64_t most_elements,
                                                         int64_t most_flops, statistics::Keys& keys);

// For each axis that no tensor's size depends on, such as one that bounds values, two shapes in which it is as large as
// the domain, and half as large or larger; the others are middling.
std::vector<core::Bindings> draw_shapes_of_bounds(const benchsuite::Problem& problem, int64_t most_elements,
                                                  int64_t most_flops, statistics::Keys& keys);

}  // namespace verifier::draws
