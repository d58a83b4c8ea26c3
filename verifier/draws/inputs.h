// Input content: drawn afresh for every launch from a secret key.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {

// How an input is drawn. What an init bounds (uniform, integers) stays within its bounds in every distribution; where a
// distribution means nothing for an input, that input is drawn as usual.
//
// Magnitudes are chosen such that honest kernels stay finite: with up to some thousand terms, sums of squares fit into
// f32, and f16 inputs are kept so small that products of two of them fit into f16 outputs.
enum class Distribution {
  ordinary,        // as the problem's init says
  row_scales,      // ordinary, each row scaled by a log-uniform factor in [1e-3, 1e3]; f16: [0.03, 31]
  offset,          // 100 + ordinary; f16: 8 + ordinary
  spikes,          // ordinary, one element in 64 a thousand times as large; f16: thirty times
  one_hot,         // one element of each row is 1, the others 0
  ties,            // three distinct values only
  denormals,       // about the least normal number of the dtype
  near_overflow,   // about 1e15; f16: as usual
  exact,           // whole numbers from -32 to 32: the exact battery
  exact_products,  // one odd number in each row, the others 0; two have a product that just fits (f32: of 24 bits)
  one_value,       // one value everywhere; integers only
  non_finite,      // ordinary, one element in 64 NaN or infinite: each row of one of kNonFiniteKinds
};
std::string_view name_of(Distribution distribution);

// Whether many terms of a sum may be equal, or all tiny beside one: then all are rounded alike, and what an order of
// summation loses grows with their number instead of its root.
bool rounds_alike(Distribution distribution);

// Whether sums, and products of two, are exactly representable, so that results must be right to the last bit.
bool is_exact(Distribution distribution);

// The adversarial distributions that suit a problem's inputs and contract, the most telling ones first.
std::vector<Distribution> adversarial_for(const benchsuite::Problem& problem);

// What rows of a non_finite draw have: NaN, inf, -inf, or all of them. The rows take turns; the first row's is in the
// two highest bits of the tensor's key, so that a judge can see to it that short tensors meet each of them.
constexpr unsigned kNonFiniteKinds = 4;
uint64_t with_kind(uint64_t key, unsigned kind);
// The next tensor's key of a draw with this key, whose kind it has.
uint64_t tensor_key(statistics::Keys& keys, uint64_t draw_key);

// Keys of the draws of one judgement; those of non_finite ones go through all kinds in turn.
class DrawKeys {
 public:
  explicit DrawKeys(statistics::Keys& keys) : keys_(keys), kind_(static_cast<unsigned>(keys.below(kNonFiniteKinds))) {}
  uint64_t next(Distribution distribution) {
    return distribution == Distribution::non_finite ? with_kind(keys_.next(), kind_++) : keys_.next();
  }

 private:
  statistics::Keys& keys_;
  unsigned kind_;
};

// How many draws of a distribution show all it has: short inputs have fewer rows than there are kinds of them.
int draws_for(const benchsuite::Problem& problem, const core::Bindings& axes, Distribution distribution);

// Fills one tensor's bytes from `key`.
void fill_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, const core::Bindings& axes,
                Distribution distribution, uint64_t key);

// Draws the lowest bits of each element of a floating tensor anew: a neighbour on which rounding errors fall
// differently while the problem is as well or as badly conditioned. Even neighbours keep differences between nearly
// equal elements (7 bits of an f32, 2 of 16-bit floats); odd ones move twice as many bits, as many as sums of many
// terms round off. Zeros, NaN, infinities and whole numbers that the problem asks for stay.
void jitter_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, uint64_t neighbour, uint64_t key);

}  // namespace verifier::draws
