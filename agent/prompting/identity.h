// Identity of solutions: two count as one if they differ only in comments, white space and the form of their headers.
#pragma once

#include <string>
#include <string_view>

namespace agent::prompting {

// A hash of a solution's text that ignores comments, white space, the description and the order of keys in the header.
// The order of a tunable's values counts, since the first is the default. Text without a readable header is hashed as
// it is.
std::string identity_of(std::string_view source);

}  // namespace agent::prompting
