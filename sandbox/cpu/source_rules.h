// What solutions may say. Token pasting can hide a word from these rules; the walls behind them are the inspection of
// the binary and the jail.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sandbox/compilation.h"
#include "sandbox/cpu/tokens.h"

namespace sandbox::cpu {

enum class HeaderRule {
  ours,      // in sandbox/cpu/shim
  built_in,  // all of it is predefined: the line is dropped
};

// The rule for an #include of this name, or why it is refused.
std::variant<HeaderRule, Rejected> header_rule(const std::string& name, int line);

// Applies the rules that need no more than the tokens round tokens[at]: words, attributes, directives other than
// #include.
std::optional<Rejected> check_token(const std::vector<Token>& tokens, size_t at);

}  // namespace sandbox::cpu
