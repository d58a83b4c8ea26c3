// Shapes that no candidate has seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "core/expr.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {

// Up to `count` bindings of all axes, drawn from the axes' domains with a liking for what breaks kernels: 1, primes,
// one less and one more than a power of two. Then, for each axis, one at which it is larger than in any listed workload
// of `backend`, up to four times (where the limits leave room for it), and one of multiples of 64, half the time a
// square: a kernel may not be right at listed and small shapes alone. Each has at most `most_elements` elements per
// tensor and `most_flops` operations, and differs from every listed workload. Fewer where the domains allow fewer. Here
// and below, limits that the smallest shape of the domain reaches leave room for eight times as much.
std::vector<core::Bindings> draw_unseen_shapes(const benchsuite::Problem& problem, const std::string& backend,
                                               int count, int64_t most_elements, int64_t most_flops,
                                               statistics::Keys& keys);

// Small shapes, among which each axis takes every residue modulo their number, or every value of its list; inner axes,
// along which a tensor lies in memory, pass a drawn multiple of it, so that a kernel has whole vectors or tiles before
// its tail. Some more are squares.
struct Residues {
  int count;            // the modulus
  int64_t inner_reach;  // inner axes stay below it
  // A shape that would pass these limits has fewer multiples. With one multiple it may have four times the
  // operations.
  int64_t most_elements, most_flops;
};
std::vector<core::Bindings> draw_residue_shapes(const benchsuite::Problem& problem, const Residues& wanted,
                                                statistics::Keys& keys);

// Shapes in which a drawn set of axes is round (timed sizes, or multiples of powers of two), and the others are not: a
// kernel may take its path by one axis and forget another's tail there. Up to `times` for each set of axes, also of
// all, and some with two equal axes. Fewer where the limits allow fewer.
std::vector<core::Bindings> draw_crossed_shapes(const benchsuite::Problem& problem, const std::string& backend,
                                                int times, int64_t most_elements, int64_t most_flops,
                                                statistics::Keys& keys);

// For each two axes and a third one a shape in which the two are 64 or 128 and the third has 5 to 40: a path for whole
// tiles may forget the tail of a sum. The other axes are as small as they may be. At most 32 shapes, and none for fewer
// than three axes.
std::vector<core::Bindings> draw_shapes_of_two_whole_axes(const benchsuite::Problem& problem, int64_t most_elements,
                                                          int64_t most_flops, statistics::Keys& keys);

// So many shapes of which the axes in turn are long: from 1024 to the end of the domain or of the limits, with a liking
// for no order of magnitude, half the time a multiple of 4 to 64. The other axes are short. Fewer where the limits
// allow fewer.
std::vector<core::Bindings> draw_middle_shapes(const benchsuite::Problem& problem, int64_t count, int64_t most_elements,
                                               int64_t most_flops, statistics::Keys& keys);

// A shape whose axes are one multiple of 64, from 256 to 1024, as far as domains and limits allow: short cuts for
// regular content are taken there. None for a problem of one axis, or where no side fits.
std::vector<core::Bindings> draw_square_shape(const benchsuite::Problem& problem, int64_t most_elements,
                                              int64_t most_flops, statistics::Keys& keys);

// For each inner axis a shape in which rows have several tiles of 4096 elements, and the other axes are short.
std::vector<core::Bindings> draw_shapes_of_long_rows(const benchsuite::Problem& problem, int64_t most_elements,
                                                     int64_t most_flops, statistics::Keys& keys);

// For each integer input that reaches as far as an axis does, such as a length, a shape in which that axis has 256 to
// 2048 and the input at least 4 elements: lengths of several chunks. None for inner axes, whose rows are long above.
std::vector<core::Bindings> draw_shapes_of_long_counts(const benchsuite::Problem& problem, int64_t most_elements,
                                                       int64_t most_flops, statistics::Keys& keys);

// For each sorted input of integers, the ends of segments, two shapes in which all segments may be equally long: a few
// of 33 to 97 rows, and 24 to 40 of 5 to 13. The lengths are odd.
std::vector<core::Bindings> draw_shapes_of_even_segments(const benchsuite::Problem& problem, int64_t most_elements,
                                                         int64_t most_flops, statistics::Keys& keys);

// Every combination of the axes' least and greatest values; where a tensor has more elements, one nearer.
std::vector<core::Bindings> corner_shapes(const benchsuite::Problem& problem, int64_t most_elements);

// For each axis the shape in which it is as large as the domain allows, where that costs no more than `most_cost`, and
// no tensor has more elements. The others are small: an array in shared memory has room for the largest size, or has
// not.
std::vector<core::Bindings> draw_ends_of_axes(const benchsuite::Problem& problem, int64_t most_cost,
                                              statistics::Keys& keys);

// For each axis a thin shape in which it is larger than in any listed workload of `backend`, but at most so many times
// as large; half of the time it is more than half as large as the limits allow, and mostly it is odd. The others are
// small.
std::vector<core::Bindings> draw_long_shapes(const benchsuite::Problem& problem, const std::string& backend,
                                             int64_t most_elements, int64_t most_flops, statistics::Keys& keys,
                                             int64_t most_times_listed = INT64_MAX);

// For a problem with one axis, four sizes beyond the listed ones, one for each remainder modulo four: a large grid has
// a single tail, which a kernel may forget. Other problems have a tail in each row, and get none of these.
std::vector<core::Bindings> draw_tails_of_the_only_axis(const benchsuite::Problem& problem, const std::string& backend,
                                                        int64_t most_elements, int64_t most_flops,
                                                        statistics::Keys& keys);

// For each axis of the largest listed benchmark of `backend` that the limits allow, that shape with this axis several
// times as long, all in whole tiles of 64 where they are that long: a pipeline comes round only in a row of tiles.
std::vector<core::Bindings> draw_rows_of_tiles(const benchsuite::Problem& problem, const std::string& backend,
                                               int64_t most_elements, int64_t most_flops, statistics::Keys& keys);

// For each axis of several a shape in which it is larger than in any listed workload of `backend`, and the others are
// drawn from 64 to what the limits leave; where those are tight, the others are shorter. Half the time all of 64 and
// more are multiples of it.
std::vector<core::Bindings> draw_long_and_wide_shapes(const benchsuite::Problem& problem, const std::string& backend,
                                                      int64_t most_elements, int64_t most_flops,
                                                      statistics::Keys& keys);

// For each axis the thin shape in which it is as large as the domain and the limits allow, and for an inner axis one in
// which it is odd and more than half as large; one in which all axes are large and odd; of more than
// two axes one in which two drawn ones are; and one of more than 2^31 elements, where the domain and the limits have
// one.
// `most_flops`: of a thin shape; `most_flops_of_large`: of one with several large axes.
std::vector<core::Bindings> far_shapes(const benchsuite::Problem& problem, int64_t most_elements, int64_t most_flops,
                                       int64_t most_flops_of_large, statistics::Keys& keys);

// Leaves this share of the largest axis.
void come_nearer(const benchsuite::Problem& problem, core::Bindings& axes, double share);

// The most elements that a tensor has, and the most operations, in the bench workloads of a backend.
struct BenchSize {
  int64_t elements = 0, flops = 0;
};
BenchSize bench_size(const benchsuite::Problem& problem, const std::string& backend);

}  // namespace verifier::draws
