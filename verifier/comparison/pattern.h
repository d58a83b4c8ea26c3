// In what pattern an output differs from what is right: what an engineer would see who lays both side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "verifier/verdicts/verdict.h"

namespace verifier::comparison {

// An output by its flat index; called some two million times at most, and never all of a large output.
struct WrongOutput {
  std::vector<int64_t> shape;  // the last dimension lies densest
  int64_t worst = 0;           // index of an element to look around
  std::function<double(int64_t)> got, right;
  std::function<bool(int64_t)> wrong;
};

// nullopt: none of these. Where no element is wrong by itself, small errors all over are still seen.
std::optional<verdicts::Pattern> find_pattern(const WrongOutput& output);

}  // namespace verifier::comparison
