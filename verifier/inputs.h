// Input content: drawn afresh for every launch from a secret key.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "benchsuite/problem.h"

namespace verifier {

// How an input is drawn. What an init bounds (uniform, integers) stays within its bounds in every distribution; where a
// distribution means nothing for an input, that input is drawn as usual.
//
// Magnitudes are chosen such that honest kernels stay finite: with up to some thousand terms, sums of squares fit into
// f32, and f16 inputs are kept so small that products of two of them fit into f16 outputs.
enum class Distribution {
  ordinary,       // as the problem's init says
  row_scales,     // ordinary, each row scaled by a log-uniform factor in [1e-3, 1e3]; f16: [0.03, 31]
  offset,         // 100 + ordinary; f16: 8 + ordinary
  spikes,         // ordinary, one element in 64 a thousand times as large; f16: thirty times
  one_hot,        // one element of each row is 1, the others 0
  ties,           // three distinct values only
  denormals,      // about the least normal number of the dtype
  near_overflow,  // about 1e15; f16: as usual
  exact,          // -1, 0 and 1: the exact battery
  one_value,      // one value everywhere; integers only
  non_finite,     // ordinary, one element in 64 NaN or infinite; one kind per row, or all kinds
};
std::string_view name_of(Distribution distribution);

// The adversarial distributions that suit a problem's inputs and contract, the most telling ones first.
std::vector<Distribution> adversarial_for(const benchsuite::Problem& problem);

// Fills one tensor's bytes from `key`.
void fill_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, const core::Bindings& axes,
                Distribution distribution, uint64_t key);

// Draws the lowest bits of each element of a floating tensor anew (7 of an f32, 2 of 16-bit floats): a neighbour on
// which rounding errors fall differently while the problem is as well or as badly conditioned. Zeros, NaN, infinities
// and whole numbers that the problem asks for stay.
void jitter_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, uint64_t key);

}  // namespace verifier
