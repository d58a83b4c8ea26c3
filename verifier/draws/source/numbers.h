// The numbers that a candidate's source names: where a kernel changes its ways, its author mostly wrote the
// place.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sandbox/solution.h"
#include "verifier/draws/source/conditions.h"
#include "verifier/draws/source/products.h"

namespace verifier::draws::source {

// Whole numbers from 3 to 2^30, none twice.
struct SourceNumbers {
  // Literals and constants beside a comparison, a remainder or an assignment, and products that begin there.
  std::vector<int64_t> decisive;
  // Other literals and products ("4 * 128 * 5", "1 << 13", also of tunables and constants), tunables, their products.
  std::vector<int64_t> others;
  std::vector<Condition> conditions;
  std::vector<Comparison> comparisons;
  // 2^7, 2^8, 2^15 or 2^16 where the source uses an integer type that cannot hold it, or shifts or masks by 8 or 16
  // bits.
  std::vector<int64_t> ends_of_types;
  // "1.0f /", or a function for quotients that rounds.
  bool multiplies_by_reciprocals = false;
  // gridDim, or a quotient or remainder of blockIdx or of a name defined from it: an order of blocks of its own.
  bool renumbers_blocks = false;
  // That an element of an input may have or pass: floating literals, also as bits of an f32, with the sign before them,
  // those first that are compared, assigned or an argument; then four divisors of what no launch passes
  // ("length % 256") and four of `decisive`. At most 32.
  std::vector<double> values;
};
// At most 64 decisive and 64 other numbers. The header's count in conditions alone, since a plan is bound at every
// corner of the domain.
SourceNumbers numbers_of(std::string_view source, const sandbox::TunableBinding& binding,
                         std::span<const sandbox::Launch> launches = {});

}  // namespace verifier::draws::source
