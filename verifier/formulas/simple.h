// Content of which something simple is true throughout, as of weights that begin as ones, counts and pixels, scales of
// groups, tensors that come from a narrower format, and positions. Kernels have short cuts for such inputs, and may
// look at each element before they take one.
#pragma once

#include "verifier/formulas/rows.h"

namespace verifier::formulas {

// The two highest bits of a simple draw's key choose one.
enum class Simple : uint64_t {
  one_number,     // each row is one number, often 1 or 0; or several rows together are
  whole,          // whole numbers, of both signs or none below zero; of integers, multiples of a power of two
  few_bits,       // of the significand: powers of two, or numbers that bf16, f16 or f8 holds; integers: powers of two
  evenly_spaced,  // along a row; integers follow each other, segments are equally long, probabilities are equal
};
HOST_DEVICE bool is_simple(const FillArgs& args, Simple kind) {
  return args.distribution == static_cast<int64_t>(Distribution::simple) &&
         args.key >> 62 == static_cast<uint64_t>(kind);
}

HOST_DEVICE bool lies_between_bounds(const FillArgs& args, double value) {
  return value >= args.low && value < args.high;
}
// All inputs of a draw share these two, so that both factors of a product have the same kind of numbers.
HOST_DEVICE bool has_both_signs_of_draw(const FillArgs& args) { return (args.key >> 55 & 1) != 0; }
HOST_DEVICE uint64_t choice_of_draw(const FillArgs& args) { return args.key >> 52 & 7; }

// So many whole numbers there are, about 0 or from it on: few, bytes, or so many that sums of some hundred squares pass
// 31 bits, and of four numbers 15 bits. Products of two of a narrow dtype must fit into it.
HOST_DEVICE double whole_numbers(const FillArgs& args) {
  const uint64_t choice = choice_of_draw(args);
  if (args.narrow != 0) return static_cast<double>(4 << choice % 3);
  if (choice < 2) return choice == 0 ? 4 : 16;
  if (choice < 5) return 256;
  const double many = choice == 7 ? 65536 : static_cast<double>(2048 << below(4, static_cast<uint32_t>(args.key), 0));
  return fmin(many, args.most_size / 8);
}
// The value as a format with fewer bits holds it: a power of two, f8e4m3, bf16 or f16.
HOST_DEVICE double cut(const FillArgs& args, double value) {
  if (value == 0) return 0;
  const uint64_t which = choice_of_draw(args) % 4;
  const int least = which == 1 ? -9 : which == 3 ? -24 : -1000;  // the exponent of its denormals
  const int step = ilogb(value) - (which == 0 ? 0 : which == 1 ? 3 : which == 2 ? 7 : 10);
  const int exponent = step > least ? step : least;
  return ldexp(trunc(ldexp(value, -exponent)), exponent);
}

// An element of an input that is N(0, scale) or U[low, high) as a rule, where an ordinary draw has `value`.
HOST_DEVICE double simple(const FillArgs& args, const Row& row, bool between_bounds, double value, int64_t column,
                          const Chance& c) {
  const double width = args.high - args.low;
  const auto placed = [&](double unit) {
    return between_bounds ? args.low + width * unit : args.scale * (4 * unit - 2);
  };
  switch (static_cast<Simple>(args.key >> 62)) {
    case Simple::one_number: {
      const Quad drawn = drawn_for(Purpose::regular, row.index / args.rows_alike, args.key);
      const double number = drawn.y % 2;
      return drawn.z % 4 == 0 || (between_bounds && !lies_between_bounds(args, number)) ? placed(unit_of(drawn.x))
                                                                                        : number;
    }
    case Simple::whole: {
      if (!between_bounds) {
        const double numbers = whole_numbers(args);
        return has_both_signs_of_draw(args) ? rint((2 * c.unit - 1) * (numbers / 2 - 1)) : floor(c.unit * numbers);
      }
      const double whole = floor(value) < args.low ? ceil(args.low) : floor(value);
      return lies_between_bounds(args, whole) ? whole : value;
    }
    case Simple::few_bits: {
      const double kept = cut(args, value);
      if (!between_bounds || lies_between_bounds(args, kept)) return kept;
      return lies_between_bounds(args, 2 * kept) ? 2 * kept : value;
    }
    default: {
      // Sums of numbers of one sign: what cancels exactly leaves other orders of addition no room.
      const double place = (static_cast<double>(column) + 0.5) / static_cast<double>(args.columns);
      return between_bounds ? placed(place) : (args.key >> 24 & 1) != 0 ? placed(0.75 + place) : -placed(0.75 + place);
    }
  }
}

// The same for integers.
HOST_DEVICE int64_t simple_integer(const FillArgs& args, int64_t index, uint32_t first, uint32_t second) {
  const uint64_t range = static_cast<uint64_t>(args.most) - static_cast<uint64_t>(args.least);
  const int64_t row = index / args.columns;
  switch (static_cast<Simple>(args.key >> 62)) {
    case Simple::one_number: {
      const Quad drawn = drawn_for(Purpose::regular, row / args.rows_alike, args.key);
      return any_integer(args, drawn.x, drawn.y);
    }
    case Simple::whole: {
      const int64_t unit = int64_t{2} << below(6, static_cast<uint32_t>(args.key), 0);
      return clamped(any_integer(args, first, second) & -unit, args.least, args.most);
    }
    case Simple::few_bits: {
      uint64_t bits = 1;
      while (bits < 62 && int64_t{1} << bits <= args.most) ++bits;
      const int64_t power = int64_t{1} << below(bits, first, 0);
      return clamped((second & 1) != 0 && args.least < 0 ? -power : power, args.least, args.most);
    }
    default: {  // from any first, mostly in steps of 1, through all rows or in each
      const Quad all = drawn_for(Purpose::few, 0, args.key);
      const Quad own = (all.x & 1) != 0 ? all : drawn_for(Purpose::regular, row, args.key);
      const auto place = static_cast<uint64_t>((all.x & 1) != 0 ? index : index % args.columns);
      const uint64_t step = (all.x & 6) != 0 ? 1 : 2 + below(14, all.y, 0);
      // The last one still lies in the range where that is long enough; else they begin anew at its end.
      const uint64_t last = static_cast<uint64_t>((all.x & 1) != 0 ? args.elements : args.columns) * step;
      const uint64_t begin = below(range > last ? range - last : range + 1, own.z, own.w), end = begin + place * step;
      return static_cast<int64_t>(static_cast<uint64_t>(args.least) + (range == UINT64_MAX ? end : end % (range + 1)));
    }
  }
}

}  // namespace verifier::formulas
