// "Did you mean": the nearest known name to a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace core {

// The candidate with the least edit distance to `name`, or "" when none is near enough to be a likely slip.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

// A remedy sentence: `did you mean "x"?` when one is near or a few begin so, otherwise `known <kind>: a, b, c`.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates,
                         std::string_view kind = "names");

}  // namespace core
