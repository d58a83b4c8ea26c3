// Shapes at which an axis is, passes or meets the numbers that a candidate's source names.
#pragma once

#include <cstdint>
#include <vector>

#include "benchsuite/problem.h"
#include "core/expr.h"
#include "verifier/draws/source/numbers.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {

// Shapes at which an axis is such a number, a multiple, one more or less, a little more, or lies between the number and
// its double: six ways, which each number takes in turn at each axis. Mostly the other axes are short; some are such a
// number, too. Three quarters of `most_shapes` at most are for decisive numbers; fewer where the limits allow fewer.
std::vector<core::Bindings> draw_shapes_of_numbers(const benchsuite::Problem& problem,
                                                   const source::SourceNumbers& numbers, size_t most_shapes,
                                                   int64_t most_elements, int64_t most_flops, statistics::Keys& keys);

// Larger shapes in which several axes meet such numbers at once, mostly those that they are compared with, or one
// passes the end of a narrow type; the others are mostly multiples of 8, for which a kernel may have a path of its own.
std::vector<core::Bindings> draw_wide_shapes_of_numbers(const benchsuite::Problem& problem,
                                                        const source::SourceNumbers& numbers, size_t most_shapes,
                                                        int64_t most_elements, int64_t most_flops,
                                                        statistics::Keys& keys);

// Shapes that meet what the source asks of several axes at once (`M % 128 == 0 && N % 128 == 0 && K >= 384`), as paths
// for whole tiles do: as much of it as goes together, and most of it in the last shape. Those after the first begin
// with two conditions of different axes that no earlier one meets at once, mostly avoid equalities, and have an odd
// number of such parts as the source names. None where it asks nothing of an axis.
std::vector<core::Bindings> draw_shapes_of_conditions(const benchsuite::Problem& problem,
                                                      const source::SourceNumbers& numbers, size_t most_shapes,
                                                      int64_t most_elements, int64_t most_flops,
                                                      statistics::Keys& keys);

// A size of the axis that meets as many conditions as possible: the first, an equality, then others, odd ones last. It
// begins beyond the least such size, less far if `halved` often.
int64_t size_that_meets(const benchsuite::Axis& axis, const std::vector<source::Condition>& conditions, int halved,
                        statistics::Keys& keys);

// Shapes that meet a condition of one axis each, conditions of large numbers first, with short other axes: small enough
// to see a draw of each kind, since a path may be wrong for unusual values alone.
std::vector<core::Bindings> draw_short_shapes_of_conditions(const benchsuite::Problem& problem,
                                                            const source::SourceNumbers& numbers, size_t most_shapes,
                                                            int64_t most_elements, int64_t most_flops,
                                                            statistics::Keys& keys);

}  // namespace verifier::draws
