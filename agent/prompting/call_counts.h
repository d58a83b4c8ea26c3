// Estimates how often calls in a source run, from the loops around them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sandbox/tokens.h"

namespace agent::prompting {

struct CallCounts {
  int innermost = 0;  // in innermost loops, and in kernels without loops: about once per element
  int outside = 0;    // elsewhere: once per row, tile or thread
};

// Counts calls of functions for which `is_one` holds, and of the source's own loop-free functions that call them. Does
// not expand macros. Never fails: malformed sources give fewer places.
CallCounts count_calls(const std::vector<sandbox::Token>& tokens,
                       const std::function<bool(const std::string& name)>& is_one);

}  // namespace agent::prompting
