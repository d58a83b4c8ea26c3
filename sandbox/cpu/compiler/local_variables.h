// Finds the local variables that a statement declares and does not set.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sandbox/tokens.h"

namespace sandbox::cpu::compiler {

// The names that the statement in the tokens [begin, end), without its semicolon, declares without a value: of plain
// declarations such as  float sums[4], best = 0, *at  the first and the last. What it does not take for a declaration
// gives none: the compiler fills those variables itself.
std::vector<std::string> unset_variables(const std::vector<Token>& tokens, size_t begin, size_t end);

}  // namespace sandbox::cpu::compiler
