// Macros that device code finds defined already.
#pragma once

#include <string_view>

namespace sandbox {

// Is this a name that the compilers, CUDA's headers or ours may give a meaning to, so that a macro of that name would
// change them? For names of capitals, digits and '_'.
bool is_taken_macro(std::string_view name);

}  // namespace sandbox
