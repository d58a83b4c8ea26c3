// The changes from one text to another, line by line.
#pragma once

#include <string>

namespace results::view {

// A unified diff with three lines of context, without a header; empty if they are equal. Lines end in a newline.
std::string unified_diff(const std::string& before, const std::string& after);

// The same, cleaned and cut: fit to show. Also empty if one of them is too long to compare.
std::string shown_diff(const std::string& before, const std::string& after);

}  // namespace results::view
