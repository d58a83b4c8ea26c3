// Sizes of a problem's axes: drawing them, and the limits that a shape has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "core/expr.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {

inline constexpr int64_t kMultiple = 64;  // whole tiles for most kernels

// The size in an axis's domain that is nearest to `wanted` from above, where there is one.
int64_t into_domain(const benchsuite::Axis& axis, int64_t wanted);

int64_t one_of(const std::vector<int64_t>& values, statistics::Keys& keys);

// Between the limits, with a liking for no order of magnitude.
int64_t draw_between(int64_t least, int64_t most, statistics::Keys& keys);
// The same in an axis's domain. A list has a value between the limits.
int64_t draw_between(const benchsuite::Axis& axis, int64_t least, int64_t most, statistics::Keys& keys);

// Whether a shape keeps to limits of elements of a tensor and of operations. A limit that the problem's smallest shape
// reaches leaves room for eight times as much.
bool small_enough(const benchsuite::Problem& problem, const core::Bindings& axes, int64_t most_elements,
                  int64_t most_flops);

// The most elements that a tensor of the problem has at a shape.
int64_t largest_tensor(const benchsuite::Problem& problem, const core::Bindings& axes);
// Terms of the longest sum behind an element of an output, half of the operations for it where the contract does not
// say.
int64_t terms_of_sums(const benchsuite::Problem& problem, const core::Bindings& axes);
// Bytes read plus operations.
int64_t cost_of(const benchsuite::Problem& problem, const core::Bindings& axes);

// The largest listed size of an axis.
int64_t listed_size(const benchsuite::Problem& problem, const std::string& backend, const std::string& axis);

// The greatest size of an axis that is not above `limit`; of a range the limit itself, which need not be a multiple.
int64_t greatest_up_to(const benchsuite::Axis& axis, int64_t limit);

// Is it the last one of a tensor, along which vectors and tails are?
bool is_inner(const benchsuite::Problem& problem, const benchsuite::Axis& axis);

// Whether no tensor's size depends on an axis of a range of sizes: such an axis mostly bounds the values of an input.
bool bounds_values(const benchsuite::Problem& problem, const benchsuite::Axis& axis);

}  // namespace verifier::draws
