// Text in a fenced block that it cannot leave.
#pragma once

#include <string>
#include <string_view>

namespace agent {

// The fence is longer than any run of backticks in the text, which ends in a newline.
std::string fenced(std::string_view text, std::string_view language = "");

}  // namespace agent
