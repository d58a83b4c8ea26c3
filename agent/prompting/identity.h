// When two solutions are one: they differ in comments, in white space and in how their headers are written down.
#pragma once

#include <string>
#include <string_view>

namespace agent::prompting {

// A hash of a solution's text that does not see comments, white space, the order of keys in the header or the
// description. The order of a tunable's values counts, since its first is the default. Text without a header that can
// be read is hashed as it is.
std::string identity_of(std::string_view source);

}  // namespace agent::prompting
