// The numbers that a candidate's source names: where a kernel changes its ways, its author mostly wrote the
// place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchsuite/problem.h"
#include "core/expr.h"
#include "sandbox/solution.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {

// Whole numbers from 3 to 2^30, none twice.
struct SourceNumbers {
  // Literals and constants beside a comparison, a remainder or an assignment, and products that begin there.
  std::vector<int64_t> decisive;
  // Other literals and products ("4 * 128 * 5", "1 << 13", also of tunables and constants), tunables, their products.
  std::vector<int64_t> others;
  // The decisive ones that stand beside a name: `M > 600` says of which axis it may be.
  std::vector<std::pair<std::string, int64_t>> compared;
  // One more than the narrow integer types that the source names can count.
  std::vector<int64_t> ends_of_types;
  // That an element of an input may have or pass: floating literals, also as bits of an f32, with the sign before them,
  // those first that are compared, assigned or an argument; then four of `decisive`. At most 12.
  std::vector<double> values;
};
// Of each kind at most 32. The header's numbers do not count, since a plan is bound at every corner of the domain.
SourceNumbers numbers_of(std::string_view source, const sandbox::TunableBinding& binding);

// Shapes at which an axis is such a number, a multiple, one more or less, a little more, or lies between the number and
// its double: six ways, which each number takes in turn at each axis. Mostly the other axes are short; some are such a
// number, too. Three quarters of `most_shapes` at most are for decisive numbers; fewer where the limits allow fewer.
std::vector<core::Bindings> draw_shapes_of_numbers(const benchsuite::Problem& problem, const SourceNumbers& numbers,
                                                   size_t most_shapes, int64_t most_elements, int64_t most_flops,
                                                   statistics::Keys& keys);

// Larger shapes in which several axes meet such numbers at once, mostly those that they are compared with, or one
// passes the end of a narrow type; the others are mostly multiples of 8, for which a kernel may have a path of its own.
std::vector<core::Bindings> draw_wide_shapes_of_numbers(const benchsuite::Problem& problem,
                                                        const SourceNumbers& numbers, size_t most_shapes,
                                                        int64_t most_elements, int64_t most_flops,
                                                        statistics::Keys& keys);

}  // namespace verifier::draws
