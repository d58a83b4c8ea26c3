// The changes from one text to another, line by line.
#pragma once

#include <string>

namespace results::view {

// A unified diff with three lines of context, without a header; empty if they are equal. Lines end in a newline.
std::string unified_diff(const std::string& before, const std::string& after);

}  // namespace results::view
