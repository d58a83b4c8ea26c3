// How often the calls in a source run, as far as its loops show it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sandbox/tokens.h"

namespace agent::prompting {

struct CallPlaces {
  int innermost = 0;  // in loops that hold no other loop, and in kernels without loops: about once per element
  int outside = 0;    // elsewhere: once per row, tile or thread
};

// Of the calls of functions that `is_one` names, and of the source's own functions without loops that call them. What
// macros make is not seen. Never fails: malformed sources have fewer places.
CallPlaces call_places(const std::vector<sandbox::Token>& tokens,
                       const std::function<bool(const std::string& name)>& is_one);

}  // namespace agent::prompting
