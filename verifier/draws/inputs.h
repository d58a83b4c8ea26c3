// Input content: drawn afresh for every launch from a secret key.
#pragma once

#include <cstdint>
#include <span>

#include "benchsuite/problem.h"
#include "verifier/draws/distributions.h"
#include "verifier/formulas/content.h"

namespace verifier::draws {

// One draw of one tensor, from `key`. Throws core::ExprError when the tensor's expressions cannot be evaluated.
// `number`: of a named draw.
formulas::FillArgs fill_args(const benchsuite::Tensor& tensor, const core::Bindings& axes, Distribution distribution,
                             uint64_t key, double number = 0);
// Fills one tensor's bytes. A GPU (devices/gpu/judge_inputs.cu) draws the same integers and uniform numbers, and other
// normal ones.
void fill_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, const core::Bindings& axes,
                Distribution distribution, uint64_t key, double number = 0);

// Draws the lowest bits of each element of a floating tensor anew: a neighbour on which rounding errors fall
// differently while the problem is as well or as badly conditioned. Even neighbours keep differences between nearly
// equal elements (7 bits of an f32, 2 of 16-bit floats, 1 of 8-bit ones); odd ones move twice as many bits, but in
// 8-bit floats, as many as sums of many terms round off. Zeros, NaN, infinities and whole numbers that the problem asks
// for stay.
void jitter_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, uint64_t neighbour, uint64_t key);

}  // namespace verifier::draws
