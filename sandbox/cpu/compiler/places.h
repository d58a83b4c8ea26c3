// Places within the lines of a source: what can run by itself, such as each side of a condition, has one of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sandbox::cpu::compiler {

// Each line of the source becomes so many lines, over which its code is spread. What does not fit stays on the last.
inline constexpr int64_t kPlacesOfALine = 32;
std::string spread_lines(std::string_view source);

// The line of the source that a line of the spread text comes from.
constexpr int64_t line_of_place(int64_t place) { return (place - 1) / kPlacesOfALine + 1; }

}  // namespace sandbox::cpu::compiler
