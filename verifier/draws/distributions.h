// Which distributions a problem's inputs are drawn from, and the keys of their draws.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/formulas/draw.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {

using formulas::Distribution;
std::string_view name_of(Distribution distribution);
std::vector<Distribution> all_distributions();

// Whether many terms of a sum may be equal, or all tiny beside one: then all are rounded alike, and what an order of
// summation loses grows with their number instead of its root.
bool rounds_alike(Distribution distribution);

// Whether inputs may pass what the naive solution can do: see comparison::OutputForm.
bool may_overflow(Distribution distribution);

// Whether sums, and products of two, are exactly representable, so that results must be right to the last bit.
bool is_exact(Distribution distribution);

// The adversarial distributions that suit a problem's inputs and contract, the most telling ones first.
std::vector<Distribution> adversarial_for(const benchsuite::Problem& problem);

// The one of them in which nearly all exponentials are small, where the problem takes any.
std::optional<Distribution> far_for(const benchsuite::Problem& problem);

// Does it take a function, such as an exponential, for which a short series may stand where numbers are small? That is
// off by a little at few scales.
bool shows_at_few_scales(const benchsuite::Problem& problem);

// A draw that may stand wherever an ordinary one does, which the first thousand elements do not tell from it: ordinary,
// patchwork, or (where the contract speaks of NaN) stray.
Distribution draw_disguise(const benchsuite::Problem& problem, statistics::Keys& keys);
bool is_disguise(Distribution distribution);  // ordinary among them

// Kinds of draws of one distribution; a key has its kind in the two highest bits. Of a non_finite draw it is what the
// first row gets, NaN, inf, -inf, or all of them, and the rows take turns: short tensors must meet each.
constexpr unsigned kKinds = 4;
uint64_t with_kind(uint64_t key, unsigned kind);
uint64_t without_input(uint64_t key);  // nor kind: what inputs share in an alike draw
// The key of a regular or a simple draw: of one of formulas::Regular's or Simple's kinds and of one input; the kinds
// take turns first.
uint64_t key_of_one_input(uint64_t key, uint64_t turn);
// The key of input `index` of `inputs` in a draw with this key, whose kind it has. In exact_products draws of two
// inputs, one has numbers with all bits of the significand and the other powers of two.
uint64_t tensor_key(statistics::Keys& keys, uint64_t draw_key, Distribution distribution, size_t index, size_t inputs);

// What input `index` draws where all draw `distribution`: extremes, far offsets of f16 and named ones of numbers that
// do not count are of one input, half the time the largest, and the others are ordinary, so that their products stay
// finite. Tiny are all inputs (kind 0), or one, chosen so. One input is regular or simple: see
// key_of_one_input; beside a simple one others are ordinary or have spikes.
Distribution distribution_of(const benchsuite::Problem& problem, const core::Bindings& axes, Distribution distribution,
                             uint64_t draw_key, size_t index);

// Keys of the draws of one judgement; those of distributions with several kinds go through them in turn.
class DrawKeys {
 public:
  explicit DrawKeys(statistics::Keys& keys) : keys_(keys) {}
  // Call before each round over the same numbers: in its named draw each then gets another kind than in the round
  // before.
  void begin_round(size_t numbers) {
    const auto before = static_cast<unsigned>(numbers % kKinds);
    kind_of_number_ += 1 + kKinds - before;
  }
  uint64_t next(Distribution distribution) {
    if (distribution == Distribution::non_finite) return with_kind(keys_.next(), kind_++);
    if (distribution == Distribution::exact_products) return with_kind(keys_.next(), kind_of_products_++);
    if (distribution == Distribution::one_scale) return with_kind(keys_.next(), kind_of_scale_++);
    if (distribution == Distribution::moderate) return with_kind(keys_.next(), kind_of_moderate_++);
    if (distribution == Distribution::tiny) return with_kind(keys_.next(), kind_of_tiny_++);
    if (distribution == Distribution::regular) return key_of_one_input(keys_.next(), regular_turn_++);
    if (distribution == Distribution::simple) return key_of_one_input(keys_.next(), simple_turn_++);
    if (distribution == Distribution::offset) return with_kind(keys_.next(), kind_of_offset_++);
    if (distribution == Distribution::ordered) return with_kind(keys_.next(), kind_of_order_++);
    if (distribution == Distribution::named) return with_kind(keys_.next(), kind_of_number_++);
    if (distribution == Distribution::far_rows) return with_kind(keys_.next(), kind_of_input_++);
    if (distribution == Distribution::one_value) return with_kind(keys_.next(), next_of_one_value());
    return keys_.next();
  }

 private:
  // Every other draw has no exception: see formulas::may_be_off.
  unsigned next_of_one_value() { return kind_of_value_++ % 2 == 0 ? 0 : kind_of_value_ / 2 % (kKinds - 1) + 1; }

  statistics::Keys& keys_;
  uint64_t regular_turn_ = keys_.below(uint64_t{1} << 20);  // any input may be the first
  uint64_t simple_turn_ = regular_turn_;
  unsigned kind_ = static_cast<unsigned>(regular_turn_ % kKinds), kind_of_products_ = kind_, kind_of_scale_ = kind_,
           kind_of_moderate_ = kind_, kind_of_tiny_ = kind_, kind_of_order_ = kind_, kind_of_number_ = kind_,
           kind_of_offset_ = kind_, kind_of_value_ = kind_, kind_of_input_ = kind_;
};

// The ways in which inputs can be regular, or simple: each input in each kind.
int64_t ways_of_one_input(const benchsuite::Problem& problem);

// How many draws of a distribution at each test shape show all it has: short inputs have fewer rows than there are
// kinds of them, and inputs are regular and simple in each way, though in no more than four of each at one shape.
int draws_for(const benchsuite::Problem& problem, const core::Bindings& axes, Distribution distribution);

// The number of a named draw, as near to it as an element of this input may lie. Where several inputs meet in sums,
// as in attention, whole rows near the largest number would overflow on the way of some orders and not of others.
double number_for(const benchsuite::Problem& problem, const core::Bindings& axes, size_t index, double number);

// Whether a length, an index or another whole number of an input may be `number` or more.
bool counts_to(const benchsuite::Problem& problem, const core::Bindings& axes, double number);

}  // namespace verifier::draws
