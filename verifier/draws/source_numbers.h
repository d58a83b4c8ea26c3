// The numbers that a candidate's source names: where a kernel changes its ways, its author mostly wrote the
// place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.h"
#include "sandbox/solution.h"

namespace verifier::draws {

// How a source compares a name with a number. `remainder`: it compares the remainder of a division by the number.
enum class Relation { equal, least, most, remainder };
KW_ENUM_NAMES(Relation, equal, least, most, remainder)

struct Condition {
  std::string name;
  Relation relation;
  int64_t number;
  int64_t remainder = 0;
  bool operator==(const Condition&) const = default;
};

// Whole numbers from 3 to 2^30, none twice.
struct SourceNumbers {
  // Literals and constants beside a comparison, a remainder or an assignment, and products that begin there.
  std::vector<int64_t> decisive;
  // Other literals and products ("4 * 128 * 5", "1 << 13", also of tunables and constants), tunables, their products.
  std::vector<int64_t> others;
  // Comparisons with decisive numbers or tunables. `M > 600` and `K % TILE == 0` tell which axis a number concerns.
  std::vector<Condition> conditions;
  // One more than the narrow integer types that the source names can count.
  std::vector<int64_t> ends_of_types;
  // That an element of an input may have or pass: floating literals, also as bits of an f32, with the sign before them,
  // those first that are compared, assigned or an argument; then four of `decisive`. At most 32.
  std::vector<double> values;
};
// At most 64 decisive and 64 other numbers, and 128 conditions. The header's numbers do not count, since a plan is
// bound at every corner of the domain.
SourceNumbers numbers_of(std::string_view source, const sandbox::TunableBinding& binding);

}  // namespace verifier::draws
