// What a candidate's source asks of several axes together: `M * N % 4096 == 0`, `HW * (C / 32) < 65536`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/expr.h"
#include "sandbox/solution.h"
#include "sandbox/tokens.h"
#include "verifier/draws/source/values.h"

namespace verifier::draws::source {

// An expression of names that a source compares with a number: with `equals` for this value, else for values from
// `number` on or below it. Two expressions that it asks to be equal are one, their difference, which is 0.
struct Comparison {
  core::Expr of;
  int64_t number;
  bool equals;
};

// At most 32, none twice, in the source and in the launches' arguments and grids. Names are those of axes where
// definitions (`int size = C / 32`) and the arguments of launches lead to them, casts are left out, shifts and masks by
// constants have become products, quotients and remainders. Of single names alone those of a multiple.
std::vector<Comparison> comparisons_of(const std::vector<sandbox::Token>& tokens, const SourceValues& values,
                                       std::span<const sandbox::Launch> launches,
                                       const sandbox::TunableBinding& binding);

}  // namespace verifier::draws::source
