// What a candidate's source asks of its axes: `M > 600` and `K % TILE == 0` tell which axis a number concerns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "sandbox/solution.h"
#include "sandbox/tokens.h"
#include "verifier/draws/source/values.h"

namespace verifier::draws::source {

// How a source compares a name with a number. `remainder`: it compares the remainder of a division by the number.
// `odd`: it compares nothing, but names the quotient, and a path for pairs of such parts may forget the last of an odd
// number.
enum class Relation { equal, least, most, remainder, odd };
KW_ENUM_NAMES(Relation, equal, least, most, remainder, odd)

struct Condition {
  std::string name;
  Relation relation;
  int64_t number;
  int64_t remainder = 0;
  bool operator==(const Condition&) const = default;
};

// Comparisons of names with numbers of 3 and more, in the source and in the launches' arguments and grids; at most 128.
// If a name is defined from another (`int tiles = ceil_div(K, BK)`), or is a kernel's parameter for which a launch
// passes another, its conditions are also given for that other name: of the sizes at which `tiles % 2 == 1` holds with
// BK = 32, those with `K % 64 == 32`. Names have no scope, but the body of a function is read once more for each of its
// calls, with the arguments in place of the parameters.
std::vector<Condition> conditions_of(const std::vector<sandbox::Token>& tokens, const SourceValues& values,
                                     std::span<const sandbox::Launch> launches, const sandbox::TunableBinding& binding);

}  // namespace verifier::draws::source
