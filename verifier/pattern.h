// In what pattern an output differs from what is right: what an engineer would see who lays both side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace verifier {

// Stored names are only added.
enum class PatternKind {
  tail,        // only past the last multiple of a block, or the last row or column
  rows,        // whole rows, the others right
  columns,     // whole columns
  tiles,       // whole aligned tiles
  transposed,  // y[i][j] is what r[j][i] should be
  shifted,     // each is what an element or a row further on should be
  scaled,      // all by the same factor
  lost_terms,  // a part of each sum is missing
  zeros,       // zero where something else is right
  imprecise,   // small relative errors
  scattered,   // a few, here and there
};
std::string_view name_of(PatternKind kind);
std::optional<PatternKind> pattern_kind_from_name(std::string_view name);

struct Pattern {
  PatternKind kind;
  std::string sentence;  // or a few, of the judge's own words and numbers

  bool operator==(const Pattern&) const = default;
};

// An output by its flat index; called some two million times at most, and never all of a large output.
struct WrongOutput {
  std::vector<int64_t> shape;  // the last dimension lies densest
  int64_t worst = 0;           // index of an element to look around
  std::function<double(int64_t)> got, right;
  std::function<bool(int64_t)> wrong;
};

// nullopt: none of these. Where no element is wrong by itself, small errors all over are still seen.
std::optional<Pattern> find_pattern(const WrongOutput& output);

}  // namespace verifier
