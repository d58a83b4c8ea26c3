// Input content: drawn afresh for every launch from a secret key.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "benchsuite/problem.h"

namespace verifier {

// Philox4x32-10, a counter-based generator (Salmon, Moraes, Dror, Shaw 2011): four 32-bit numbers for a counter and a
// key.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// How a floating input is drawn. Integer inputs are always drawn as their problem says.
enum class Distribution {
  ordinary,       // as the problem's init says
  row_scales,     // ordinary, each row scaled by a log-uniform factor in [1e-3, 1e3]
  offset,         // 100 + ordinary
  spikes,         // ordinary, one element in 64 a thousand times as large
  one_hot,        // one element of each row is 1, the others 0
  ties,           // three distinct values only
  denormals,      // about the least normal number of the dtype
  near_overflow,  // about 1e15: squares and their sums stay finite in fp32; not for f16
  exact,          // -1, 0 and 1: the exact battery
};
std::string_view name_of(Distribution distribution);

// The adversarial distributions that suit a problem's contract, in the order in which they are used. Empty when no
// input is floating.
std::vector<Distribution> adversarial_for(const benchsuite::Problem& problem);

// Fills one tensor's bytes from `key`.
void fill_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, const core::Bindings& axes,
                Distribution distribution, uint64_t key);

}  // namespace verifier
